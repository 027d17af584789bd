/** The part of the log store that keeps what was measured of apps: as the log it is written all the time, and no change waits for it. */
export interface MetricsChunk {
  readonly app: string;
  readonly stepMs: number;
  /** Milliseconds since 1970. */
  readonly startMs: number;
  /** Some ten kilobytes at most. */
  readonly data: Uint8Array;
}

export interface KeptMetrics {
  /** Those of the app and the step that begin within the span, both ends included, oldest first. */
  metricsChunks(app: string, stepMs: number, fromMs: number, toMs: number): Promise<MetricsChunk[]>;
  /** All or none. What is there of the same app, step and beginning is replaced. */
  keepMetrics(chunks: readonly MetricsChunk[]): Promise<void>;
  /** Removes those of the step that begin earlier. */
  forgetMetrics(stepMs: number, beforeMs: number): Promise<void>;
}
