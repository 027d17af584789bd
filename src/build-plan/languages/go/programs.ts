/** Where the programs of a Go source are, and what `go install` calls them. */
import type { SourceFiles } from '../../source/source-files.ts';
import { directivesOf, programName } from './module-file.ts';

export interface GoProgram {
  readonly name: string;
  /** Relative to the top; '' is the top. */
  readonly directory: string;
  /** Its directory is that of a module. */
  readonly isTop: boolean;
}

export interface FoundPrograms {
  /** That of the module; in a workspace that of the first one. '' when it has none. */
  readonly name: string;
  readonly programs: readonly GoProgram[];
  /** False when the source is so large that there may be others. */
  readonly isAll: boolean;
}

interface ProgramPackage {
  readonly directory: string;
  readonly importPath: string;
}

const MAX_DIRECTORIES = 400;
/** Files of one directory that are looked at until one says what they make. */
const MAX_FILES = 20;
const PASSED_OVER = ['vendor', 'testdata', 'node_modules'];
/** Tags that hold where programs are built; a file with one other tag alone (`ignore`, `mage`, `windows`) is not part of them. */
const USUAL_TAG = /^(?:linux|unix|cgo|amd64|arm64|gc|go1\.\d+|!.*)$/;

/** `modules`: directories with a go.mod. */
export async function findPrograms(files: SourceFiles, modules: readonly string[]): Promise<FoundPrograms> {
  const programs: GoProgram[] = [];
  const open: ProgramPackage[] = [];
  for (const directory of modules) open.push({ directory, importPath: await modulePath(files, directory) });
  const name = programName(open[0]?.importPath ?? '') ?? '';
  let looked = 0;
  for (let place = open.shift(); place !== undefined; place = open.shift()) {
    looked += 1;
    if (looked > MAX_DIRECTORIES) return { name, programs, isAll: false };
    const names = await files.list(place.directory);
    const called = programName(place.importPath);
    if (called !== null && (await isProgram(files, place.directory, names))) {
      programs.push({ name: called, directory: place.directory, isTop: modules.includes(place.directory) });
    }
    for (const below of names) {
      // A file of the language, or of another kind, as its name shows.
      if (/^[._]|\.(?:go|mod|sum|md|json|ya?ml|txt|html|css|js|png|svg|sql)$/.test(below)) continue;
      if (PASSED_OVER.includes(below)) continue;
      const directory = join(place.directory, below);
      if (await files.exists(`${directory}/go.mod`)) continue;
      open.push({ directory, importPath: `${place.importPath}/${below}` });
    }
  }
  return { name, programs, isAll: true };
}

async function modulePath(files: SourceFiles, directory: string): Promise<string> {
  const directives = await directivesOf(files, join(directory, 'go.mod'));
  return directives.find(({ verb }) => verb === 'module')?.words[0] ?? '';
}

/** A file may be of package main only to carry lines for `go generate`. */
async function isProgram(files: SourceFiles, directory: string, names: readonly string[]): Promise<boolean> {
  const sources = names.filter((name) => /^[^._].*\.go$/.test(name) && !name.endsWith('_test.go'));
  let isMain = false;
  for (const name of sources.slice(0, MAX_FILES)) {
    const file = join(directory, name);
    const tag = (await files.findLine(file, /^\/\/(?:go:build|\s*\+build)\s+(\S+)\s*$/))?.match[1];
    if (tag !== undefined && !USUAL_TAG.test(tag)) continue;
    const found = await files.findLine(file, /^package\s+(\w+)/);
    if (found === null) continue;
    if (found.match[1] !== 'main') return false;
    if (await files.hasLine(file, /^func\s+main\s*\(/)) return true;
    isMain = true;
  }
  return isMain && sources.length > MAX_FILES;
}

/** For the go command: `./cmd/web`. */
export function packageOf({ directory }: GoProgram): string {
  return directory === '' ? '.' : `./${directory}`;
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
