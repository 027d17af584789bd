/** Which programs of a Go source are built, and which of them serves. */
import type { PlanProblem } from '../../build-plan.ts';
import type { AppDeclaration } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { calledPrograms, type Compiler, programProblem, servingProgram } from '../compiled-programs.ts';
import { type FoundPrograms, packageOf, type GoProgram } from './programs.ts';

interface Chosen {
  readonly built: readonly GoProgram[];
  /** Null when nothing says which one. */
  readonly served: GoProgram | null;
  readonly problems: readonly PlanProblem[];
}

/** Directories of programs that are not what an app runs. */
const ASIDE = ['example', 'examples', '_examples', 'test', 'tests', 'tools', 'scripts', 'hack', 'internal', 'docs'];
const GO_BUILD: Compiler = {
  output: 'bin',
  naming: 'Programs are named as "go install" names them: by their directory, at the top by the module.',
};

export async function choosePrograms(files: SourceFiles, found: FoundPrograms, asked: AppDeclaration): Promise<Chosen> {
  const called = [...calledPrograms(asked, GO_BUILD).values()].map(({ name }) => name);
  const built = await builtOf(files, found.programs, called);
  const served = built.find(({ directory }) => directory === '') ?? servingProgram(built, [asked.app, found.name]);
  // Other commands may make what is missing.
  const isKnown = found.isAll && !asked.buildsItself && !asked.replacesSteps;
  const problem =
    sameName(built) ??
    (isKnown ? (nothing(built, asked) ?? (await programProblem(files, asked, GO_BUILD, { built, served }))) : null);
  return { built, served, problems: problem === null ? [] : [problem] };
}

/** The top and all of cmd/, else whatever there is; and what a process calls. Heroku's comment in go.mod names them otherwise. */
async function builtOf(
  files: SourceFiles,
  programs: readonly GoProgram[],
  called: readonly string[],
): Promise<readonly GoProgram[]> {
  const comment = await files.findLine('go.mod', /^\/\/ \+heroku install (.+)$/);
  const patterns = comment?.match[1]?.trim().split(/\s+/) ?? [];
  const named = programs.filter((program) => patterns.some((pattern) => fits(program, pattern)));
  if (named.length > 0) return named;
  const usual = programs.filter(({ directory, isTop }) => isTop || isBelow(directory, 'cmd'));
  const notAside = programs.filter(({ directory }) => !directory.split('/').some((part) => ASIDE.includes(part)));
  const chosen = [usual, notAside, programs].find((some) => some.length > 0) ?? [];
  return programs.filter((program) => chosen.includes(program) || called.includes(program.name));
}

function fits(program: GoProgram, pattern: string): boolean {
  const own = packageOf(program);
  if (!pattern.endsWith('/...')) return own === pattern.replace(/(?<=[^/])\/$/, '');
  const top = pattern.slice(0, -'/...'.length);
  return top === '.' || own === top || own.startsWith(`${top}/`);
}

/** A workspace has a cmd/ in each module. */
function isBelow(directory: string, name: string): boolean {
  return directory.split('/').includes(name) && !directory.split('/').some((part) => ASIDE.includes(part));
}

function sameName(built: readonly GoProgram[]): PlanProblem | null {
  for (const [index, { name, directory }] of built.entries()) {
    const other = built.slice(0, index).find((each) => each.name === name);
    if (other === undefined) continue;
    return {
      cause: 'invalid_config',
      message: `Both ${other.directory || 'the top'} and ${directory} are programs that would be built as bin/${name}.`,
      hint: 'Rename one of the directories, or name what is to be built in go.mod with a line such as: // +heroku install ./cmd/web',
    };
  }
  return null;
}

function nothing(built: readonly GoProgram[], { processes }: AppDeclaration): PlanProblem | null {
  if (built.length > 0 || processes !== null) return null;
  return {
    cause: 'no_process',
    message:
      'No directory of this source has a program ("package main"): it is a library, and nothing of it can be started.',
    hint: 'Add a program at the top or in a directory of cmd/, such as cmd/web/main.go, and push again.',
  };
}
