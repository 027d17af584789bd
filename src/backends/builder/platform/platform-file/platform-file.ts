/** What a platform.yaml says; read and checked by read-platform.ts. */
import type { PlatformOption } from '../../../../build-plan/app-files/app-config.ts';
import type { Condition, Facts } from './conditions.ts';

export interface Platform {
  readonly name: string;
  /** Absolute directory of platform.yaml. */
  readonly directory: string;
  readonly description: string;
  /** Patterns of files; one of them means that the source is for this platform. */
  readonly detect: readonly string[];
  readonly facts: Facts;
  readonly tools: readonly Tool[];
  readonly sharedTools: readonly SharedTool[];
  /** Variables of the server's own environment that builds get too (proxies, registries, certificates). */
  readonly inherit: readonly string[];
  /** Settings of the server's user that are asked from a program and given to builds. */
  readonly ask: readonly Ask[];
  readonly options: readonly PlatformOption[];
  /** Files beside platform.yaml that are copied into the code before the build. */
  readonly files: readonly PlatformCopy[];
  readonly dependencies: readonly Dependencies[];
  readonly steps: readonly Step[];
  readonly processes: readonly DefaultProcess[];
  readonly environment: readonly Variable[];
  /** Said in the build, for what people may expect and the platform does not do. */
  readonly notes: readonly { readonly when: Condition | null; readonly text: string }[];
  /** A command that could start such an app, shown to people whose app says nowhere how it starts. */
  readonly example: string;
}

export interface Tool {
  readonly program: string;
  /** Arguments that make the program print its version. */
  readonly version: readonly string[];
  readonly minimum: string | null;
  /** Arguments of a second command that must succeed for the program to be complete; null when there is none. */
  readonly check: readonly string[] | null;
  /** Package manager -> the command that installs the program. */
  readonly install: Readonly<Record<string, string>>;
  /** Needed only when this holds. */
  readonly when: Condition | null;
  /** True when units need the program too, not only builds. */
  readonly runtime: boolean;
  readonly versions: OtherVersions | null;
  /** Where the source may say which version it is for: the first file that matches counts, its first group is what it says. */
  readonly asked: readonly { readonly file: string; readonly matches: RegExp }[];
  /** Names under which other versions of the program may be installed, in the order in which they are tried. */
  readonly others: readonly string[];
}

/** How other versions of a tool are brought to this machine. */
export interface OtherVersions {
  /** Where the source says which versions it wants (a semver range); only behind the prefix when there is one, as in yarn@4.1.0. */
  readonly wanted: { readonly file: string; readonly key: string; readonly prefix: string };
  /** The range to take from when the tool is not installed and the source wants none; null when it must be installed. */
  readonly otherwise: string | null;
  /** Prints a JSON list of versions. */
  readonly available: readonly string[];
  /** Written into the directory first. */
  readonly files: Readonly<Record<string, string>>;
  /** Template with {directory} and {version}. */
  readonly install: readonly string[];
  /** Added to `install` for the versions in `for`: what this machine has of it does not run with them. */
  readonly companions: readonly { readonly for: string; readonly argument: string }[];
  /** The directory of programs, below {directory}. */
  readonly bin: string;
}

/** A directory of programs made once and used by the builds of every app; `{name}` in a template of steps. */
export interface SharedTool {
  readonly name: string;
  /** One directory per version of this tool. */
  readonly per: string;
  /** Templates with {directory}. */
  readonly steps: readonly (readonly string[])[];
}

export interface Ask {
  readonly command: readonly string[];
  /** The variable that gets the answer, or a file of the build's home and its text with {answer}. */
  readonly into: { readonly variable: string } | { readonly homeFile: string; readonly text: string };
}

export interface PlatformCopy {
  readonly from: string;
  readonly to: string;
}

export interface Step {
  readonly name: string;
  readonly when: Condition | null;
  /** Templates with {app}, {code}, {downloads}, {layer} and the names of shared tools. */
  readonly run: readonly string[];
}

export interface Dependencies {
  readonly name: string;
  readonly when: Condition | null;
  /** When this holds the result may not be kept. */
  readonly neverKept: Condition | null;
  readonly key: {
    readonly files: readonly string[];
    /** File -> the keys of it that matter. */
    readonly json: Readonly<Record<string, readonly string[]>>;
  };
  /** `restored`: a directory in the code, given back by the next build. `layer`: stays where it was made, units see it read-only. */
  readonly keep: { readonly kind: 'restored'; readonly directory: string } | { readonly kind: 'layer' };
  readonly steps: readonly Step[];
}

export interface DefaultProcess {
  readonly name: string;
  readonly when: Condition | null;
  /** A pattern of a Python-like module; {module} in the command is the first one found, with dots. */
  readonly module: string | null;
  /** A template, or the JSON value that holds the command line. */
  readonly command: string | { readonly file: string; readonly key: string };
}

export interface Variable {
  readonly name: string;
  readonly value: string;
  readonly when: Condition | null;
  readonly scope: 'both' | 'build' | 'run';
}
