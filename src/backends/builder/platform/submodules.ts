/** Fetches the submodules of a commit into its code: within the sandbox, with the rights that the app's own build has. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NETWORK_VARIABLES } from '../../../build-plan/languages/network-variables.ts';
import type { ArtifactPlace } from '../../../domain/artifacts/artifact-store.ts';
import type { BuildRequest, Submodule } from '../../../domain/deploys/builder.ts';
import { deadline } from '../../../lib/deadline.ts';
import { findProgram } from '../../../lib/find-program.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { BuilderContext } from './builder-context.ts';
import { buildEnvironment } from './environment.ts';
import type { BuildOutput } from './steps/output.ts';
import { type Ended, runStep } from './steps/run-step.ts';

interface Fetching {
  readonly context: BuilderContext;
  readonly request: BuildRequest;
  readonly place: ArtifactPlace;
  readonly output: BuildOutput;
  readonly signal: AbortSignal;
}

/** All of them together. */
const FETCH_MS = 300_000;
const MAX_SUBMODULES = 50;
const MAX_SAID_LINES = 200;
/** Characters. */
const MAX_SHOWN = 1_000;
/** Hosts of public repositories, which have each at an https address, too. */
const HOSTS = ['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org'];
/** Nothing of this machine is a submodule, and there is no key to log in with. */
const SETTINGS = [
  '[protocol]\n\tallow = never\n',
  ...['https', 'http'].map((name) => `[protocol "${name}"]\n\tallow = always\n`),
  ...HOSTS.map((host) => `[url "https://${host}/"]\n\tinsteadOf = git@${host}:\n\tinsteadOf = ssh://git@${host}/\n`),
  '[credential]\n\thelper =\n[safe]\n\tdirectory = *\n[advice]\n\tdetachedHead = false\n',
].join('');

/** What cannot be fetched is left empty and said. A time-out counts as that; rejects only when the signal fires. */
export async function fetchSubmodules(fetching: Fetching, submodules: readonly Submodule[]): Promise<void> {
  const { context, request, place, output, signal } = fetching;
  const temporary = join(context.cache, request.app, `build-${request.deployId}`, 'submodules');
  const wanted = submodules.slice(0, MAX_SUBMODULES);
  const limited = deadline(FETCH_MS, signal);
  let isAnyEmpty = wanted.length < submodules.length;
  if (isAnyEmpty)
    output.say(`Warning: only the first ${MAX_SUBMODULES} of ${submodules.length} submodules are fetched.`);
  try {
    await prepare(temporary, fetching);
    const git = await commands(temporary, fetching, limited.signal);
    await git.run(['init', '--quiet']);
    for (const submodule of wanted) {
      const refusal = await fetchOne(git, submodule);
      const name = printable(submodule.path);
      if (refusal === null) output.say(`Submodule ${name}: fetched at ${submodule.commit.slice(0, 12)}`);
      else output.say(`Warning: the submodule ${name} is left empty: ${printable(refusal)}`);
      isAnyEmpty ||= refusal !== null;
    }
    // Each has one that leads to where its history was.
    await git.remove('.git');
  } catch (error) {
    signal.throwIfAborted();
    if (!limited.signal.aborted) throw error;
    isAnyEmpty = true;
    output.say(`Warning: submodules are left empty that could not be fetched within ${FETCH_MS / 60_000} minutes.`);
  } finally {
    limited.clear();
    await removeTree(temporary);
  }
  if (isAnyEmpty) {
    const directory = 'in a directory that has them (git submodule update --init --recursive)';
    output.say(`To deploy the files of submodules themselves: tancho deploy -a ${request.app}, ${directory}.`);
  }
  await context.sandbox.own(place.code, request.app);
}

async function prepare(temporary: string, { context, request, place }: Fetching): Promise<void> {
  for (const name of ['home', 'tmp']) await mkdir(join(temporary, name), { recursive: true, mode: 0o755 });
  await writeFile(join(temporary, 'home', '.gitconfig'), SETTINGS);
  await context.sandbox.own(temporary, request.app);
  await context.sandbox.own(place.code, request.app);
}

interface Commands {
  /** Of git. Answers what it said beside its end. */
  run(args: readonly string[]): Promise<Ended & { readonly said: readonly string[] }>;
  /** Wherever something of that name is in the code. */
  remove(name: string): Promise<void>;
}

async function commands(
  temporary: string,
  { context, request, place }: Fetching,
  signal: AbortSignal,
): Promise<Commands> {
  const { variables } = await context.settings.of({ inherit: NETWORK_VARIABLES, ask: [] }, () => null);
  const env = {
    ...buildEnvironment({
      machine: variables,
      platform: {},
      app: {},
      step: {},
      path: [],
      home: join(temporary, 'home'),
      temporary: join(temporary, 'tmp'),
    }),
    GIT_DIR: join(temporary, 'git'),
    GIT_WORK_TREE: place.code,
    GIT_TERMINAL_PROMPT: '0',
  };
  async function run(argv: readonly string[]): Promise<Ended & { readonly said: readonly string[] }> {
    const said: string[] = [];
    const hear = (text: string): void => {
      if (said.length < MAX_SAID_LINES) said.push(text);
    };
    const ended = await runStep(context.sandbox, {
      argv,
      cwd: place.code,
      env,
      tenant: request.app,
      binds: [temporary, place.code].map((path) => ({ path, writable: true })),
      limits: context.limits,
      signal,
      stdout: hear,
      stderr: hear,
    });
    return { ...ended, said };
  }
  const program = (name: string): string => findProgram(name) ?? name;
  return {
    run: (args) => run([program('git'), ...args]),
    async remove(name) {
      await run([program('find'), '.', '-name', name, '-prune', '-exec', program('rm'), '-rf', '{}', '+']);
    },
  };
}

/** Null when it is there now, else why not. */
async function fetchOne({ run }: Commands, { path, commit }: Submodule): Promise<string | null> {
  const noted = await run(['update-index', '--add', '--cacheinfo', `160000,${commit},${path}`]);
  if (noted.code !== 0) return reasonOf(noted.said, path);
  const options = ['--init', '--recursive', '--depth', '1', '--quiet'];
  const fetched = await run(['submodule', 'update', ...options, '--', path]);
  return fetched.code === 0 ? null : reasonOf(fetched.said, path);
}

/** Paths and what servers answer are anybody's words. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, '?').slice(0, MAX_SHOWN);
}

function reasonOf(said: readonly string[], path: string): string {
  const all = said.join('\n');
  if (/no url found for submodule path/i.test(all))
    return `nothing in .gitmodules says where it is from. If it is a repository that lies within this one, make its files part of it: git rm --cached ${path}; then remove ${path}/.git and git add ${path}.`;
  if (/transport 'ssh' not allowed/.test(all))
    return 'its address is one for SSH, which takes a key. A public one can be had by https: change it in .gitmodules.';
  if (/transport '\w+' not allowed|remote\.origin\.url/.test(all))
    return 'its address is relative, or none of https. Write the whole https address into .gitmodules.';
  const line = said.find((each) => /^(?:fatal|error): /.test(each)) ?? said.at(-1) ?? 'git does not say why';
  // A password in an address of .gitmodules is not for the log.
  return line.replace(/^(?:fatal|error): /, '').replace(/\/\/[^/@\s]*@/g, '//');
}
