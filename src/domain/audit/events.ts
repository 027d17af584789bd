import type { Forgotten } from './log-rows.ts';

/** The audit trail: one event per change and per attempt at one, from every door. `detail` must be free of secrets. */
export interface PlatformEvent {
  readonly id: string;
  /** When it began; ISO 8601 UTC. */
  readonly at: string;
  /** '' while it goes on; it stays so where the platform died before the end, and then nothing here says how it ended. */
  readonly endedAt: string;
  readonly actor: string;
  /** How the actor was known: `session`, `api-key` and so on, with the beginning of the token's hash where there is one; '' for who has none. */
  readonly token: string;
  readonly address: string;
  /** The action of access.ts, e.g. `app.create`; of what was refused before that is known, the operation that was asked for. */
  readonly action: string;
  /** e.g. `app:shop`. */
  readonly target: string;
  readonly detail: string;
  /** Error code; '' for success. */
  readonly error: string;
  /** Nothing was begun: the caller may not do it, or has asked for nonsense. */
  readonly isRefusal: boolean;
  /** ID of the deploy that it made; '' for none. Its log is the deploy's. */
  readonly deploy: string;
  /** What was different afterwards; empty while it goes on. */
  readonly changes: readonly EventChange[];
}

/** Private values are replaced. */
export interface EventChange {
  readonly field: string;
  /** Null: it was not there. */
  readonly before: string | null;
  readonly after: string | null;
}

export type EventEnd = Pick<PlatformEvent, 'endedAt' | 'error' | 'deploy' | 'changes'>;

export interface EventFilter {
  /** Only what concerns one of these apps since it was made, or was done by this actor; absent: all. */
  readonly visible?: { readonly apps: readonly string[]; readonly actor: string };
  readonly target?: string;
  readonly action?: string;
  readonly actor?: string;
  readonly failedOnly?: boolean;
  /** That began then or later, and before then: ISO 8601 UTC with milliseconds. */
  readonly since?: string;
  readonly until?: string;
  /** Newest ones that are left out. */
  readonly skip?: number;
}

export interface EventReader {
  /** Newest first. */
  events(limit: number, filter?: EventFilter): Promise<PlatformEvent[]>;
  event(id: string): Promise<PlatformEvent | null>;
}

export interface EventWriter {
  /** One that is there already, because an answer of the store was lost, gets the end that is given, unless it has one. */
  insertEvent(event: PlatformEvent): Promise<void>;
  /** Unknown, or ended already: nothing to do. */
  endEvent(id: string, end: EventEnd): Promise<void>;
  /** The oldest of those that are older than `before` (ISO 8601 UTC), or more than `keep`; at most `batch`. Their rows in the audit log stay, without what they say. */
  deleteOldEvents(bounds: {
    readonly before: string;
    readonly keep: number;
    readonly batch: number;
  }): Promise<Forgotten>;
  /** The oldest refusals, where there are more than `keep`; at most `batch`. The same of their rows. */
  deleteOldRefusals(bounds: { readonly keep: number; readonly batch: number }): Promise<Forgotten>;
}

/** Fields that all events of the platform itself have in common. */
export const OWN_EVENT = {
  ...{ actor: 'tancho', token: '', address: '', error: '', isRefusal: false, deploy: '' },
  changes: [],
} as const satisfies Partial<PlatformEvent>;
