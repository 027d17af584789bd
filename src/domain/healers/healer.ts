/**
 * Contract: finds one kind of disorder and puts it in order (specification 4.5). Healers look at things as they are, never at what
 * was done before, so that a second run finds nothing to do. What an operation is busy with is left alone by treat().
 */
export interface Finding {
  /** What it is about: `unit:<id>`, `app:<name>`, `slug:<id>` ... */
  readonly target: string;
  /** The app it is about: left alone while somebody else has its lease; null: about no app. */
  readonly app: string | null;
  /** One sentence for people. */
  readonly problem: string;
  /** How long a healer that runs by itself looks at it before it acts, because acting throws something away; for ever: only on demand. Milliseconds. */
  readonly graceMs: number;
}

export interface Healer {
  readonly name: string;
  /** One line for people. */
  readonly description: string;
  /**
   * Without effect. May name what an operation has under way, but nothing that goes on in the background without a lease. `again`: it is
   * enough to look whether this one is still there.
   */
  find(again?: Finding): Promise<Finding[]>;
  /** Called with the lease of `finding.app`, right after find() has named it again. Resolves with what was done, in one sentence. */
  heal(finding: Finding): Promise<string>;
}

/** healed: put in order; left: something was busy with it, or it was in order by then; failed: it could not be put in order. */
export type HealingOutcome = 'healed' | 'left' | 'failed';

export interface Treatment {
  readonly target: string;
  readonly problem: string;
  readonly outcome: HealingOutcome;
  /** What was done, or why not. */
  readonly action: string;
}

export interface HealingReport {
  readonly healer: string;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly found: readonly Treatment[];
  /** What an external healer answered, its beginning; null for the platform's own. */
  readonly answer: string | null;
}
