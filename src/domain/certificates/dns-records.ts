/** Contract: sets TXT records at the operator's DNS. Implementation: backends/dns-records. */
export interface DnsRecords {
  /**
   * Resolves when the record is there for everybody, as far as whoever sets it knows. Errors: an Error whose message says how it
   * failed, to be shown to anybody; what only the operator may read is its cause. The record may be there then all the same.
   */
  set(record: string, value: string, signal: AbortSignal): Promise<void>;
  /** Missing: nothing to do. */
  remove(record: string, value: string, signal: AbortSignal): Promise<void>;
}
