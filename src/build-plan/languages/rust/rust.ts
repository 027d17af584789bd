/** Rust, with Cargo. */
import type { PlannedProcess, PlanProblem, Step, Tool } from '../../build-plan.ts';
import { type AppDeclaration, firstSign, type Language, type PlanParts } from '../../language.ts';
import type { SourceFiles } from '../../source/source-files.ts';
import {
  calledPrograms,
  type CompiledProgram,
  type Compiler,
  programProblem,
  servingProgram,
} from '../compiled-programs.ts';
import { asIfAlone, planWithin } from '../../part-of-source.ts';
import { NETWORK_VARIABLES } from '../network-variables.ts';
import { type Crate, type Crates, readCrates, table } from './crates.ts';
import { lockWarning } from './lock-file.ts';
import { rustVersion } from './rust-version.ts';

const CARGO: Tool = {
  program: 'cargo',
  minimum: '1.56.0',
  install: {
    'apt-get': 'apt-get install -y cargo',
    apk: 'apk add cargo',
    dnf: 'dnf install -y cargo',
    brew: 'brew install rust',
  },
};
const LINKER: Tool = {
  program: 'cc',
  install: {
    'apt-get': 'apt-get install -y build-essential',
    apk: 'apk add build-base',
    dnf: 'dnf install -y gcc',
    brew: 'xcode-select --install',
  },
};
const CARGO_BUILD: Compiler = {
  output: 'target/release',
  naming: 'Programs are named by their package, by "name" of a [[bin]], or by their file in src/bin.',
};
/** Packages of a workspace that are not what an app runs. */
const ASIDE = ['xtask', 'examples', 'benches', 'tests', 'tools', 'fuzz'];
const NAMED_PROGRAMS = 3;

interface Program extends CompiledProgram {
  readonly crate: Crate;
}

export const rust: Language = {
  name: 'rust',
  description: 'Rust, with Cargo',
  example: 'target/release/my-app',
  signs: ['Cargo.toml'],
  tools: [CARGO, LINKER],
  inherit: [...NETWORK_VARIABLES, 'CARGO_HTTP_CAINFO', 'CARGO_HTTP_PROXY'],
  isPart,
  detect: (files) => firstSign(files, { manifest: ['Cargo.toml'] }),
  plan: async (files, asked) => {
    const { directory } = asked;
    if (directory === '') return plan(files, asked);
    const parts = await plan(files.below(directory), asIfAlone(asked), files);
    return planWithin(directory, parts);
  },
};

/** A package that takes something from a package beside it, or from its workspace, unless it is one itself. */
async function isPart(files: SourceFiles, directory: string): Promise<boolean> {
  const manifest = `${directory}/Cargo.toml`;
  if (await files.exists(`${directory}/package.json`)) return false;
  if (await files.hasLine(manifest, /\bpath\s*=\s*["']\.\.\//)) return true;
  return !(await files.hasLine(manifest, /^\s*\[workspace\b/)) && files.hasLine(manifest, /\bworkspace\s*=\s*true\b/);
}

/** `top`: of the workspace, where the lock file is. */
async function plan(files: SourceFiles, asked: AppDeclaration, top = files): Promise<PlanParts> {
  const all = await readCrates(files);
  const { wanted, warnings } = await rustVersion(files, all);
  const isLocked = (await files.exists('Cargo.lock')) || (await top.exists('Cargo.lock'));
  const stale = await lockWarning(files, all);
  const built = builtOf(all, asked);
  const served = servedOf(built, asked);
  const problem = await problemOf(files, asked, all, { built, served });
  return {
    title: all.isWorkspace ? 'Rust workspace' : 'Rust',
    tools: [{ ...CARGO, wanted }, LINKER],
    environment: [
      { name: 'CARGO_HOME', value: '{downloads}/cargo', scope: 'build' },
      // Beside the code, so that the next build compiles only what is new.
      { name: 'CARGO_TARGET_DIR', value: '{downloads}/target', scope: 'build' },
      { name: 'CARGO_TERM_COLOR', value: 'never', scope: 'build' },
      { name: 'CARGO_TERM_PROGRESS_WHEN', value: 'never', scope: 'build' },
    ],
    steps: buildSteps(built),
    path: [CARGO_BUILD.output],
    processes: web(served),
    notes: isLocked
      ? []
      : ['There is no Cargo.lock: every build takes the newest packages that fit; commit the file to keep them'],
    warnings: [...warnings, ...(stale === null ? [] : [stale])],
    problems: problem === null ? [] : [problem],
  };
}

/** Those of the package at the top, else of the workspace; and what a process calls. */
function builtOf({ crates, usual }: Crates, asked: AppDeclaration): Program[] {
  const called = [...calledPrograms(asked, CARGO_BUILD).values()].map(({ name }) => name);
  const programs = crates.flatMap((crate) =>
    crate.programs.map((name): Program => ({ name, directory: crate.directory, crate })),
  );
  const atTop = programs.filter(({ directory }) => directory === '');
  const notAside = programs.filter(({ directory }) => !directory.split('/').some((part) => ASIDE.includes(part)));
  const named = programs.filter(({ directory }) => usual?.includes(directory) === true);
  const chosen = [named, atTop, notAside, programs].find((some) => some.length > 0) ?? [];
  return programs.filter((program) => chosen.includes(program) || called.includes(program.name));
}

function servedOf(built: readonly Program[], { app }: AppDeclaration): Program | null {
  const usual = built.find(({ name, crate }) => crate.usual === name);
  return (
    usual ??
    servingProgram(built, [app]) ??
    built.find(({ name, crate }) => crate.directory === '' && crate.name === name) ??
    null
  );
}

function buildSteps(built: readonly Program[]): Step[] {
  if (built.length === 0) return [];
  const names = [...new Set(built.map(({ name }) => name))];
  const packages = [...new Set(built.map(({ crate }) => crate.name))];
  const which = [...packages.flatMap((name) => ['--package', name]), ...names.flatMap((name) => ['--bin', name])];
  const shown = names.length > NAMED_PROGRAMS ? `(${names.length} programs)` : names.join(' ');
  return [
    {
      name: `cargo build --release ${shown}`,
      run: ['cargo', 'build', '--release', ...which],
    },
    {
      name: `programs to ${CARGO_BUILD.output}`,
      run: [
        'install',
        '-D',
        '-m',
        '755',
        '-t',
        CARGO_BUILD.output,
        ...names.map((name) => `{downloads}/target/release/${name}`),
      ],
    },
  ];
}

/** Rocket reads its port and address from variables of its own. */
function web(served: Program | null): Record<string, PlannedProcess> {
  if (served === null) return {};
  const { name, crate } = served;
  const isRocket = table(crate.manifest, 'dependencies')?.['rocket'] !== undefined;
  const before = isRocket ? 'ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT exec ' : '';
  const from = crate.directory === '' ? 'Cargo.toml' : `${crate.directory}/Cargo.toml`;
  return { web: { command: `${before}${CARGO_BUILD.output}/${name}`, from } };
}

async function problemOf(
  files: SourceFiles,
  asked: AppDeclaration,
  { isAll }: Crates,
  programs: { readonly built: readonly Program[]; readonly served: Program | null },
): Promise<PlanProblem | null> {
  // Other commands may make what is missing.
  if (!isAll || asked.buildsItself || asked.replacesSteps) return null;
  if (programs.built.length > 0 || asked.processes !== null) {
    return programProblem(files, asked, CARGO_BUILD, programs);
  }
  return {
    cause: 'no_process',
    message:
      'No package of this source has a program (src/main.rs, src/bin, [[bin]] in Cargo.toml): it is a library, and nothing of it can be started.',
    hint: 'Add src/main.rs and push again.',
  };
}
