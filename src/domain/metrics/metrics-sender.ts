/** Contract: takes metrics where they are gathered. Implementation: backends/metrics-sender. */
export interface MetricsSender {
  /** A document of OTLP, as JSON. Rejects with a sentence that may be logged. */
  send(body: string, signal: AbortSignal): Promise<void>;
}
