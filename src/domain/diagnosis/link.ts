/** One link of the chain between a visitor and an app. */
import type { FailureCause } from '../failure.ts';
import type { DiagnosisFacts, KnownFailure } from './facts.ts';

export interface BrokenLink {
  /** One or two sentences for people: what is broken, and why. */
  readonly cause: string;
  /** What mends it, or shows what to mend; a command line, or a sentence where there is none. */
  readonly command: string;
  /** What the process said last, oldest first. */
  readonly lines?: readonly string[];
}

export interface DiagnosisLink {
  readonly name: string;
  /** What it asks, for people. */
  readonly asks: string;
  /** Null: the link holds. Pure. */
  check(facts: DiagnosisFacts): BrokenLink | null;
}

/** The first known failure with one of these causes, as a broken link. */
export function brokenBy({ failures }: DiagnosisFacts, causes: readonly FailureCause[]): BrokenLink | null {
  const found: KnownFailure | undefined = failures.find(({ cause }) => causes.includes(cause));
  return found === undefined ? null : { cause: found.message, command: found.command };
}
