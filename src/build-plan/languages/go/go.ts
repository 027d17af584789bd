/** Go modules and workspaces. */
import { withoutTrailing } from '../../../lib/without-trailing.ts';
import type { PlannedProcess, PlanProblem, Step, Tool } from '../../build-plan.ts';
import { type AppDeclaration, type Detection, firstSign, type Language, type PlanParts } from '../../language.ts';
import { asIfAlone, planWithin } from '../../part-of-source.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { FILES_BEFORE_MODULES, noModule } from './before-modules.ts';
import { choosePrograms } from './choose-programs.ts';
import { directivesOf, goVersion } from './module-file.ts';
import { findPrograms, packageOf, type GoProgram } from './programs.ts';
import { missingSums } from './sums.ts';

export const GO: Tool = {
  program: 'go',
  version: ['version'],
  minimum: '1.18.0',
  install: {
    'apt-get': 'apt-get install -y golang-go',
    apk: 'apk add go',
    dnf: 'dnf install -y golang',
    brew: 'brew install go',
  },
  fetchesItselfSince: '1.21.0',
};
/** Packages that most programs use: compiled once for all apps, not once per app. */
const COMPILED = ['net/http', 'encoding/json', 'html/template', 'database/sql', 'log/slog', 'embed'];
const STANDARD_LIBRARY = 'go-standard-library';
/** With a slash in the end go gives each program the name that `go install` does. */
const BUILD = ['go', 'build', '-trimpath', '-buildvcs=false', '-o', 'bin/'];
/** More packages are counted, not named. */
const NAMED_PACKAGES = 3;

export const go: Language = {
  name: 'go',
  description: 'Go modules and workspaces',
  example: 'bin/my-app',
  signs: ['go.mod', 'go.work', '*.go'],
  tools: [GO],
  inherit: [...NETWORK_VARIABLES, ...['GOPROXY', 'GONOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOPRIVATE', 'GOINSECURE']],
  ask: [
    { command: ['go', 'env', 'GOPROXY'], into: { variable: 'GOPROXY' } },
    { command: ['go', 'env', 'GOSUMDB'], into: { variable: 'GOSUMDB' } },
  ],
  isPart,
  detect,
  plan: async (files, asked) => {
    const { directory } = asked;
    if (directory === '') return plan(files, asked);
    return planWithin(directory, await plan(files.below(directory), asIfAlone(asked), files));
  },
};

/** A module that takes another from beside it, or one of its workspace. */
async function isPart(files: SourceFiles, directory: string): Promise<boolean> {
  if (!(await files.exists(`${directory}/go.mod`)) || (await files.exists(`${directory}/package.json`))) return false;
  if (await files.hasLine(`${directory}/go.mod`, /=>\s*\.\.\//)) return true;
  const members = (await files.exists('go.work')) ? await membersOf(files) : [];
  if (!members.includes(directory)) return false;
  const required = new Set(await wordsOf(files, `${directory}/go.mod`, 'require'));
  const modules = await Promise.all(
    members.map((member) => wordsOf(files, member === '' ? 'go.mod' : `${member}/go.mod`, 'module')),
  );
  return modules.flat().some((name) => required.has(name));
}

/** The first word of each such directive. */
async function wordsOf(files: SourceFiles, path: string, wanted: string): Promise<string[]> {
  const directives = await directivesOf(files, path);
  return directives.flatMap(({ verb, words: [word] }) => (verb === wanted && word !== undefined ? [word] : []));
}

/** A module without code holds the tools of a source in another language. */
async function detect(files: SourceFiles): Promise<Detection | null> {
  const found = await firstSign(files, {
    manifest: ['go.mod', 'go.work'],
    program: ['*.go', ...FILES_BEFORE_MODULES],
  });
  if (found?.because !== 'go.mod' || (await files.find('*.go', '*/*.go', '*/*/*.go')) !== null) return found;
  return { ...found, strength: 'page' };
}

/** `top`: of the workspace, if there is one. */
async function plan(files: SourceFiles, asked: AppDeclaration, top = files): Promise<PlanParts> {
  const manifest = await files.find('go.work', 'go.mod');
  if (manifest === null) return { title: 'Go', tools: [GO], problems: [await noModule(files, asked.app)] };
  const found = await findPrograms(files, manifest === 'go.work' ? await membersOf(files) : ['']);
  const { built, served, problems } = await choosePrograms(files, found, asked);
  // Modules of a workspace take each other from beside them.
  const sums = manifest === 'go.mod' && !(await top.exists('go.work')) ? await missingSums(files) : null;
  return {
    title: manifest === 'go.work' ? 'Go workspace' : 'Go',
    tools: [{ ...GO, wanted: await goVersion(files, manifest) }],
    sharedTools: [
      {
        name: STANDARD_LIBRARY,
        per: 'go',
        steps: [['env', 'GOCACHE={directory}', 'GOFLAGS=', 'go', 'build', '-trimpath', ...COMPILED]],
      },
    ],
    environment: [
      { name: 'GOPATH', value: '{downloads}/go', scope: 'build' },
      { name: 'GOCACHE', value: '{downloads}/go-build', scope: 'build' },
      // Modules that may be removed again; and without tables for debuggers, which take a good part of the linking. Panics name lines all the same.
      { name: 'GOFLAGS', value: '-modcacherw -ldflags=-w', scope: 'build' },
      // The installed one, unless it is too old for the source.
      { name: 'GOTOOLCHAIN', value: 'auto', scope: 'build' },
    ],
    steps: [
      {
        name: 'compiled standard library',
        run: ['cp', '-R', '-n', `{${STANDARD_LIBRARY}}/.`, '{downloads}/go-build'],
        once: true,
      },
      ...buildSteps(built),
    ],
    path: ['bin'],
    processes: web(served),
    problems: [...problems, ...(sums === null ? [] : ([sums] satisfies PlanProblem[]))],
  };
}

/** The directories of a workspace. */
async function membersOf(files: SourceFiles): Promise<string[]> {
  const directives = await directivesOf(files, 'go.work');
  const used = directives.filter(({ verb }) => verb === 'use').map(({ words }) => words[0] ?? '');
  // Others are outside of the source; go itself says so.
  const inside = used.filter((path) => !path.startsWith('/') && !path.split('/').includes('..'));
  return [...new Set(inside.map((path) => (path === '.' ? '' : withoutTrailing(path.replace(/^(?:\.\/)+/, ''), '/'))))];
}

function buildSteps(built: readonly GoProgram[]): Step[] {
  if (built.length === 0) return [];
  const packages = built.map(packageOf);
  const name = packages.length > NAMED_PACKAGES ? `(${packages.length} programs)` : packages.join(' ');
  return [{ name: `go build ${name}`, run: [...BUILD, ...packages] }];
}

function web(served: GoProgram | null): Record<string, PlannedProcess> {
  if (served === null) return {};
  const { name, directory } = served;
  return { web: { command: `bin/${name}`, from: directory === '' ? 'the program at the top' : directory } };
}
