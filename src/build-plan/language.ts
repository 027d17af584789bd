/** Contract of a language: it looks at a source tree and says how that is built. It runs nothing and knows no machine. */
import type { Ask, BuildPlan, Tool } from './build-plan.ts';
import type { SourceFiles } from './source/source-files.ts';

export interface Language {
  /** `nodejs`: the name of the platform. */
  readonly name: string;
  /** For `tancho platform list`. */
  readonly description: string;
  /** A command that could start such an app, shown to people whose app says nowhere how it starts. */
  readonly example: string;
  /** Files by which people know such a source; `*` stands for any characters but a slash. */
  readonly signs: readonly string[];
  /** A command that starts a file of the language, which the first group names: enough for a source without such a sign. */
  readonly starts?: RegExp;
  /** Tools that every app of it needs, for `tancho platform list`. */
  readonly tools: readonly Tool[];
  readonly inherit?: readonly string[];
  readonly ask?: readonly Ask[];
  /** Keys of a section of tancho.yaml that become variables of the units. */
  readonly options?: SectionOptions;
  /**
   * True when a directory is a part of a whole, which has to be there to build it: a package of a workspace. Then plan() is asked with
   * all of the source and `asked.directory`. Absent: a directory is always a source of its own.
   */
  isPart?(files: SourceFiles, directory: string): Promise<boolean>;
  /** The directory of an app is always a source of its own, also where it is a part of a whole for other languages. Absent: as isPart() says. */
  readonly isAlone?: true;
  /** Null when the source is of something else. */
  detect(files: SourceFiles): Promise<Detection | null>;
  /** Everything not given is empty. Throws Failure `invalid_config` for files that cannot be read. */
  plan(files: SourceFiles, asked: AppDeclaration): Promise<PlanParts>;
}

export interface SectionOptions {
  readonly section: string;
  readonly keys: readonly {
    readonly key: string;
    readonly variable: string;
    readonly description: string;
    /** Names something in the source. */
    readonly isPath?: true;
  }[];
}

export interface Detection {
  /** The file that says so. */
  readonly because: string;
  /**
   * How much it means when an app's platform is found by its first push: a manifest of packages says more than a file with a usual
   * name, that more than a recipe of an image, and that more than a page.
   */
  readonly strength: 'manifest' | 'program' | 'recipe' | 'page';
}

/** What is set for the app, beside its code. */
export interface AppDeclaration {
  readonly app: string;
  /** The part of the source that is the app, only where isPart() says so; '' for all of it. */
  readonly directory: string;
  /** From Procfile or tancho.yaml; null: the language decides. */
  readonly processes: Readonly<Record<string, string>> | null;
  /** The app has build commands of its own, which run after the steps. */
  readonly buildsItself: boolean;
  /** A command that is set on the app is run in place of the steps; whatever builds may need is to be there for it. */
  readonly replacesSteps: boolean;
  /** Packages that are only for development stay in what runs. */
  readonly keepsDevelopment: boolean;
  /** Variable -> value, from the language's section of tancho.yaml. */
  readonly options: Readonly<Record<string, string>>;
}

export type PlanParts = Pick<BuildPlan, 'title'> &
  Partial<Omit<BuildPlan, 'platform' | 'inherit' | 'ask' | 'processes'>> & {
    /** What runs when the app does not say it itself; asked.processes come first in any case. */
    readonly processes?: BuildPlan['processes'];
  };

const STRENGTHS: readonly Detection['strength'][] = ['manifest', 'program', 'recipe', 'page'];

/** Sorts the strongest first. */
export function byStrength(a: Detection, b: Detection): number {
  return STRENGTHS.indexOf(a.strength) - STRENGTHS.indexOf(b.strength);
}

/** The strongest sign that is there. */
export async function firstSign(
  files: SourceFiles,
  signs: Partial<Record<Detection['strength'], readonly string[]>>,
): Promise<Detection | null> {
  for (const strength of STRENGTHS) {
    for (const pattern of signs[strength] ?? []) {
      const because = await files.find(pattern);
      if (because !== null) return { because, strength };
    }
  }
  return null;
}
