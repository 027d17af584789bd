/** One build under way: what all its parts know. */
import type { BuildPlan } from '../../../build-plan/build-plan.ts';
import type { SourceFiles } from '../../../build-plan/source/source-files.ts';
import type { ArtifactPlace } from '../../../domain/artifacts/artifact-store.ts';
import type { BuildRequest } from '../../../domain/deploys/builder.ts';
import type { CodeBase } from './base/bases.ts';
import type { BuildOutput } from './steps/output.ts';
import type { FoundProgram } from './toolchain/programs.ts';
import type { FetchedTool } from './toolchain/toolchains.ts';
import type { BuilderContext } from './builder-context.ts';

export interface RunningBuild {
  readonly context: BuilderContext;
  readonly request: BuildRequest;
  readonly plan: BuildPlan;
  readonly place: ArtifactPlace;
  readonly files: SourceFiles;
  /** What it is built on; null: the directories of the machine. */
  readonly base: CodeBase | null;
  /** Tools found there, in the plan's order. */
  readonly programs: readonly FoundProgram[];
  /** Tools found on this machine, by which others are fetched. */
  readonly machinePrograms: readonly FoundProgram[];
  /** Versions fetched in place of them. */
  readonly fetched: readonly FetchedTool[];
  readonly output: BuildOutput;
  readonly signal: AbortSignal;
}
