/** Contract: archives that lie somewhere else. Implementations live in backends/archive-source/<name>. */
export interface ArchiveSource {
  /**
   * The bytes at an http or https address, as they come; only addresses that users may have called are. Throws PlatformError
   * `input.invalid` for what cannot be fetched, saying why, and `cancelled`; also while they are read.
   */
  open(url: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
}
