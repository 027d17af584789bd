/**
 * How a source tree becomes an app, as data: made by a language without running anything, shown by `tancho build plan`, followed by
 * a builder. Texts in braces are filled in by who follows it: `{app}`, `{code}` (the directory of the code), `{downloads}` (kept
 * between the builds of one app), `{layer}` (the set of dependencies that stays outside the code), and the names of shared tools.
 */
import type { FailureCause } from '../domain/failure.ts';
import type { Recipe } from './languages/dockerfile/stages.ts';

export type { Recipe };

export interface BuildPlan {
  /** `nodejs`: also the name of the app's platform. */
  readonly platform: string;
  /** What was recognised, for people: `Next.js with npm`. */
  readonly title: string;
  /** In the order in which their versions are decided. */
  readonly tools: readonly Tool[];
  readonly sharedTools: readonly SharedTool[];
  /** Variables of the server's own environment that builds get too: proxies, registries, certificates. */
  readonly inherit: readonly string[];
  /** Settings of the server's user that are asked from a program and given to builds. */
  readonly ask: readonly Ask[];
  /** The last of equal names counts. */
  readonly environment: readonly Variable[];
  /** Put into the code before the first step. */
  readonly files: readonly AddedFile[];
  readonly dependencies: readonly DependencySet[];
  readonly steps: readonly Step[];
  /** The image that is built in place of the steps and run as images are; null: code is built. */
  readonly image: ImageRecipe | null;
  /** Files that the steps must have made to be served as they are; null: the app serves itself. */
  readonly site: Site | null;
  /** By name. Empty only beside a problem. */
  readonly processes: Readonly<Record<string, PlannedProcess>>;
  readonly newVariables: readonly NewVariable[];
  /** Directories of the code whose programs units find by their names. */
  readonly path: readonly string[];
  /** What is done otherwise than people may expect. */
  readonly notes: readonly string[];
  /** What will probably go wrong. */
  readonly warnings: readonly string[];
  /** Why this cannot be built or would not run; nothing is begun while there is one. */
  readonly problems: readonly PlanProblem[];
}

/** A variable that the app gets where it has none of that name. */
export interface NewVariable {
  readonly name: string;
  /** The text, or that it is to be something nobody can guess. */
  readonly value: string | { readonly generated: 'hex' };
  /** Who wants it: `app.json`. */
  readonly from: string;
  /** With the app's first release only, or with every one before which it is missing. */
  readonly when: 'first' | 'missing';
}

/** A program that the steps or the processes run. */
export interface Tool {
  readonly program: string;
  /** Arguments that make the program print its version; `--version` by default. */
  readonly version?: readonly string[];
  /** The oldest version that will do, in full. */
  readonly minimum?: string;
  /** What of the source asks for that, and what can be done about it where there are only older ones; absent: every such app needs it. */
  readonly neededFor?: PlanProblem;
  /** Arguments of a second command that must succeed for the program to be complete. */
  readonly check?: readonly string[];
  /** Package manager (`apt-get`, `apk`, `dnf`, `brew`, `npm`) -> the command that installs the program. */
  readonly install: Readonly<Record<string, string>>;
  /** Units need the program too, not only the build. */
  readonly runtime?: boolean;
  /** What the source asks for; absent: any version. */
  readonly wanted?: WantedVersion | null;
  /** Names under which other versions may be installed, in the order in which they are tried. */
  readonly others?: readonly string[];
  /** How versions that are not installed are fetched; absent: they must be installed. */
  readonly download?: ToolDownload | null;
  /** From this version on, in full, the program itself fetches the version that the source asks for. */
  readonly fetchesItselfSince?: string;
}

export interface WantedVersion {
  /** A range of versions as semver knows them. */
  readonly range: string;
  /** As it is written in the source. */
  readonly text: string;
  /** Where: `engines.node in package.json`. */
  readonly from: string;
}

/** How versions of a tool are fetched to this machine: once, for all apps. */
export interface ToolDownload {
  /** The range to take from when the tool is not installed and the source asks for none; null: then it must be installed. */
  readonly otherwise: string | null;
  /** Whose programs the commands below use, as `{name}`; the tool that it is made with must be installed in some version then. */
  readonly by?: SharedTool;
  /** Prints a JSON list of versions; a line of more than some thousand characters is cut off. */
  readonly available: readonly string[];
  /** Written into the directory first: path -> content. */
  readonly files?: Readonly<Record<string, string>>;
  /** Words with {directory} and {version}. */
  readonly install: readonly string[];
  /** Added to `install` for the versions in `for`: what the machine has of it does not run with them. */
  readonly companions?: readonly { readonly for: string; readonly argument: string }[];
  /** The directory of programs, below {directory}. */
  readonly bin: string;
  /** What to do when it cannot be fetched; absent: that the server is to reach its registry. */
  readonly hint?: string;
}

/** A directory of programs made once and used by the builds of every app; `{name}` in steps. */
export interface SharedTool {
  readonly name: string;
  /** One directory per version of this tool. */
  readonly per: string;
  /** Words with {directory}. */
  readonly steps: readonly (readonly string[])[];
}

export interface Ask {
  readonly command: readonly string[];
  /** The variable that gets the answer, or a file of the build's home and its text with {answer}. */
  readonly into: { readonly variable: string } | { readonly homeFile: string; readonly text: string };
}

export interface Variable {
  readonly name: string;
  /** Left out when it names something that this build does not have. */
  readonly value: string;
  /** Seen by the steps, by the units, or by both (the default). */
  readonly scope?: 'both' | 'build' | 'run';
  /** Left out where the tool that is installed is older than this version, in full. */
  readonly since?: { readonly program: string; readonly version: string };
}

/** `from`: a path below platforms/, or the text itself. `to`: a file directly in `.tancho/`. */
export type AddedFile = { readonly to: string } & ({ readonly from: string } | { readonly text: string });

export interface Step {
  /** For people: `npm ci`. */
  readonly name: string;
  readonly run: readonly string[];
  /** A directory of the code in which it is run; absent: its top. */
  readonly directory?: string;
  /** It fills what is kept between the builds of one app, `{downloads}`: not run again as long as that is there and the words are these. */
  readonly once?: true;
  /** Of this step alone. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the app is without where this fails (`front end`): a warning then, and nothing more of the same name is run. */
  readonly optional?: string;
}

/** Packages that are installed by steps and kept, so that the next build need not do it again. */
export interface DependencySet {
  /** For people: `npm packages`. */
  readonly name: string;
  /** What decides the result, beside the steps and the versions of the tools: files (patterns) and values found in them. */
  readonly key: { readonly files: readonly string[]; readonly values?: Readonly<Record<string, unknown>> };
  /** `restored`: a directory in the code, given back by the next build. `layer`: stays where it was made, units see it read-only. */
  readonly keep: { readonly kind: 'restored'; readonly directory: string } | { readonly kind: 'layer' };
  /** Why the result may not be kept; absent: it may. */
  readonly neverKept?: string | null;
  readonly steps: readonly Step[];
  /** As in a step. */
  readonly optional?: string;
}

export interface Site {
  /** Directories that may hold it, the best first. */
  readonly roots: readonly string[];
  /** Which of them is known only after the steps: the first that has this file. */
  readonly index: string;
  /** The variable that names the directory to the file server. */
  readonly variable: string;
  /** When none has it; null: then nothing of it is served. */
  readonly otherwise: PlanProblem | null;
}

export interface ImageRecipe {
  /** The Dockerfile, below the source. */
  readonly file: string;
  /** The stage that is built; '' for the last. */
  readonly target: string;
  /** Build arguments from the app's file. */
  readonly args: Readonly<Record<string, string>>;
  readonly recipe: Recipe;
  /** The image's own command is the process `web`; false where the app names its processes. */
  readonly ownCommand: boolean;
}

export interface PlannedProcess {
  /** A command line for a shell. */
  readonly command: string;
  /** Who says so: `Procfile`, `scripts.start in package.json`, `Next.js`. */
  readonly from: string;
}

export interface PlanProblem {
  readonly cause: FailureCause;
  /** Names the file and line, or the setting. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}
