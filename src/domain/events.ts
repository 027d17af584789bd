/** The audit trail: one event per mutation, from every door. `detail` must be free of secrets. */
export interface PlatformEvent {
  readonly id: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly actor: string;
  readonly address: string;
  /** The action of access.ts, e.g. `app.create`. */
  readonly action: string;
  /** e.g. `app:shop`. */
  readonly target: string;
  readonly detail: string;
  /** Error code; '' for success. */
  readonly error: string;
}

export interface EventReader {
  /** Newest first. */
  events(limit: number): Promise<PlatformEvent[]>;
}

export interface EventWriter {
  insertEvent(event: PlatformEvent): Promise<void>;
  /** The oldest of those that are older than `before` (ISO 8601 UTC), or more than `keep`; at most `batch`. How many they were. */
  deleteOldEvents(bounds: { readonly before: string; readonly keep: number; readonly batch: number }): Promise<number>;
}
