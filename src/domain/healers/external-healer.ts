/** Contract: calls a healer that somebody else runs, at an address of the configuration. Implementation: backends/external-healer. */
export interface ExternalHealer {
  /** Of the configuration, so it does not change while the platform runs. */
  readonly name: string;
  readonly url: string;
}

export interface ExternalHealers {
  /**
   * Executes it and resolves with the beginning of what it answered, when that was a success. Throws PlatformError
   * `healer.failed`, whose message holds nothing secret. Bounded in time and size.
   */
  call(healer: ExternalHealer, requestId: string): Promise<string>;
}
