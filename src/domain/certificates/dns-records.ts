/** Contract: sets TXT records at the operator's DNS. Implementation: backends/dns-records. */
export interface DnsRecords {
  /**
   * Resolves when the record is there for everybody, as far as whoever sets it knows. Errors: an Error whose message says what it
   * printed, without secrets.
   */
  set(record: string, value: string, signal: AbortSignal): Promise<void>;
  /** Missing: nothing to do. */
  remove(record: string, value: string, signal: AbortSignal): Promise<void>;
}
