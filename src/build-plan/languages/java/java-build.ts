/** What Maven and Gradle decide of a plan. */
import type { PlanProblem, Tool, Variable } from '../../build-plan.ts';
import type { PlanParts } from '../../language.ts';

export interface JavaBuild extends Pick<PlanParts, 'title' | 'files' | 'notes'> {
  readonly tools: readonly Tool[];
  readonly environment: readonly Variable[];
  readonly steps: NonNullable<PlanParts['steps']>;
  readonly processes: NonNullable<PlanParts['processes']>;
  readonly problems: readonly PlanProblem[];
}
