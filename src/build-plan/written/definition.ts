/** What the definition of a platform that an admin has added says: a plan in which parts may depend on files of the source. */
import type { DependencySet, PlannedProcess, Step, Tool, Variable } from '../build-plan.ts';
import type { SectionOptions } from '../language.ts';

/** Patterns of files, one of which must be there; null: always. */
export type When = readonly string[] | null;

export type Conditional<T> = T & { readonly when: When };

export interface Definition {
  readonly description: string;
  readonly example: string;
  readonly detect: readonly string[];
  readonly tools: readonly Conditional<WrittenTool>[];
  readonly inherit: readonly string[];
  readonly options: SectionOptions['keys'];
  readonly environment: readonly Conditional<Variable>[];
  readonly dependencies: readonly Conditional<WrittenDependencies>[];
  readonly steps: readonly Conditional<Step>[];
  readonly processes: readonly Conditional<{ readonly name: string } & Pick<PlannedProcess, 'command'>>[];
  readonly notes: readonly Conditional<{ readonly text: string }>[];
}

export interface WrittenTool extends Tool {
  /** Where the source may say which version it is for: the first line that matches, its first group. */
  readonly asked: readonly { readonly file: string; readonly matches: RegExp }[];
}

export interface WrittenDependencies extends Omit<DependencySet, 'key' | 'neverKept'> {
  readonly key: {
    readonly files: readonly string[];
    /** File -> the keys of it that matter. */
    readonly json: Readonly<Record<string, readonly string[]>>;
  };
  /** The result is not kept when one of these files is there. */
  readonly neverKept: When;
  readonly steps: readonly Conditional<Step>[];
}
