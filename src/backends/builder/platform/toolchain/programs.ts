/** Finds the programs platforms need, and believes only what a sandbox could really run. */
import { constants } from 'node:fs';
import { access, lstat, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, sep } from 'node:path';
import { coerce, gte, valid } from 'semver';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { onSharedRoot, type SharedRoot } from '../../../../sandbox/shared-root.ts';
import { MACHINE_FILES } from '../../../../domain/artifacts/slug.ts';
import type { Tool } from '../../../../build-plan/build-plan.ts';
import { userHome } from '../../../../lib/user-home.ts';
import { runStep } from '../steps/run-step.ts';
import type { StepLimits } from '../steps/run-step.ts';
import { isThere } from '../../../../lib/is-there.ts';
import { behindRustup, rustupPlaces } from './rustup.ts';

export const SYSTEM_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** No app can have this name, for app names start with a letter. */
export const TOOLCHAIN_TENANT = '_toolchains';
const USUAL_PLACES = ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin', '/snap/bin'];
const SYSTEM_ROOTS = ['/usr', '/bin', '/sbin', '/lib', '/lib64'];
/** A busy machine starts programs late. */
const PROBE_MS = 60_000;
const MISSING_MS = 60_000;

export interface FoundProgram {
  readonly found: true;
  readonly program: string;
  /** Absolute. */
  readonly path: string;
  readonly version: string;
  /** Directories outside the system's that must be visible for it to run. */
  readonly binds: readonly string[];
}

export interface NoProgram {
  readonly found: false;
  /** One sentence: what is missing and the command that installs it. */
  readonly missing: string;
  /** It is there, and did not answer in time: it may the next time. */
  readonly isLate?: true;
  /** It is there, in versions that are older than the oldest that will do. */
  readonly isOld?: true;
}

interface ProgramsOptions {
  readonly sandbox: Sandbox;
  /** An existing directory to probe in. */
  readonly directory: string;
  /** Path of the Node that runs the server: programs beside it come first. */
  readonly execPath: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limits: StepLimits;
  /** They are looked for on this base; absent: on the machine. */
  readonly base?: SharedRoot;
  /** How long each may take to say its version; a minute by default. */
  readonly probeMs?: number;
}

export class ProgramFinder {
  readonly #options: ProgramsOptions;
  readonly #known = new Map<string, { result: Promise<FoundProgram | NoProgram>; at: number; stamp: string }>();

  constructor(options: ProgramsOptions) {
    this.#options = options;
  }

  /** Looked for again after a minute when missing, and when the program's file has changed. */
  async find(tool: Tool): Promise<FoundProgram | NoProgram> {
    // Not every platform asks the same of a program.
    const key = JSON.stringify([tool.program, tool.version, tool.minimum, tool.check]);
    const known = this.#known.get(key);
    if (known !== undefined) {
      const result = await known.result;
      const isFresh = Date.now() - known.at < MISSING_MS;
      if (result.found ? known.stamp === (await stamp(this.#place(result.path))) : isFresh) return result;
    }
    const result = this.#look(tool);
    this.#known.set(key, { result, at: Date.now(), stamp: '' });
    const program = await result.catch((error: unknown) => {
      this.#known.delete(key);
      throw error;
    });
    if (!program.found && program.isLate === true) this.#known.delete(key);
    if (program.found) this.#known.set(key, { result, at: Date.now(), stamp: await stamp(this.#place(program.path)) });
    return program;
  }

  /** True when units find this very program without further help. */
  async isDefault(program: FoundProgram): Promise<boolean> {
    if (this.#options.base !== undefined) return SYSTEM_PATH.includes(dirname(program.path));
    for (const directory of SYSTEM_PATH) {
      const path = join(directory, program.program);
      if (await isThere(path)) return (await realpath(path)) === (await realpath(program.path));
    }
    return false;
  }

  async #look(tool: Tool): Promise<FoundProgram | NoProgram> {
    const { version: args = ['--version'], minimum = null, check = null } = tool;
    let reason = `${tool.program} is not installed`;
    let late: string | null = null;
    let old: string | null = null;
    for (const directory of this.#places()) {
      const named = join(directory, tool.program);
      if (!(await this.#isThere(named))) continue;
      const isOfMachine = this.#options.base === undefined;
      const path = isOfMachine ? await behindRustup(named, this.#options.environment) : named;
      if (path === null) {
        reason = `${named} is one of rustup, which has no default toolchain (rustup default stable)`;
        continue;
      }
      const binds = isOfMachine ? await bindsOf(path, this.#options.directory) : [];
      const lines = await this.#run([path, ...args], binds);
      if (lines === 'late') {
        late ??= `${path} has not said its version within ${Math.round(this.#probeMs / 1000)} seconds: the machine is too busy`;
        continue;
      }
      const version = lines === null ? null : coerce(lines.join(' '))?.version;
      if (version === undefined || version === null || valid(version) === null) {
        reason = `${path} cannot be used (${args.join(' ')} failed in the sandbox)`;
      } else if (minimum !== null && !gte(version, minimum)) {
        old = `${path} is version ${version}, but ${minimum} or newer is needed`;
      } else if (check !== null && !Array.isArray(await this.#run([path, ...check], binds))) {
        reason = `${path} is incomplete (${tool.program} ${check.join(' ')} failed)`;
      } else {
        return { found: true, program: tool.program, path, version, binds };
      }
    }
    if (late !== null) return { found: false, missing: `${late}.`, isLate: true };
    if (old !== null) return { found: false, missing: `${old}. ${await installWith(tool)}`, isOld: true };
    return { found: false, missing: `${reason}. ${await installWith(tool)}` };
  }

  /** On this machine. */
  #place(path: string): string {
    return join(this.#options.base?.root ?? '/', path);
  }

  /** Of links in a base only that they are there, for where they lead is to be found there, too. */
  async #isThere(path: string): Promise<boolean> {
    if (this.#options.base === undefined) return isExecutable(path);
    return (await lstat(this.#place(path)).catch(() => null)) !== null;
  }

  #places(): string[] {
    const { execPath, environment, base } = this.#options;
    if (base !== undefined) return [...SYSTEM_PATH, ...USUAL_PLACES];
    const path = (environment['PATH'] ?? '').split(delimiter).filter((part) => part.startsWith(sep));
    return [...new Set([dirname(execPath), ...SYSTEM_PATH, ...USUAL_PLACES, ...path, ...rustupPlaces(environment)])];
  }

  get #probeMs(): number {
    return this.#options.probeMs ?? PROBE_MS;
  }

  /** The lines printed, or null when the command failed. */
  async #run(argv: readonly string[], more: readonly string[]): Promise<string[] | null | 'late'> {
    const { base, directory } = this.#options;
    const on = base === undefined ? null : onSharedRoot(base, { temporary: null, files: MACHINE_FILES });
    const binds = [directory, ...more].map((path) => ({ path, writable: false }));
    const lines: string[] = [];
    const print = (line: string): void => void (lines.length < 20 && lines.push(line));
    const signal = AbortSignal.timeout(this.#probeMs);
    const ended = await runStep(this.#options.sandbox, {
      argv,
      cwd: this.#options.directory,
      env: {
        PATH: [dirname(argv[0] ?? ''), ...SYSTEM_PATH].join(delimiter),
        HOME: this.#options.directory,
        LANG: 'C.UTF-8',
      },
      tenant: TOOLCHAIN_TENANT,
      binds: [...(on?.binds ?? []), ...binds],
      ...(on !== null && { root: on.root }),
      limits: this.#options.limits,
      signal,
      stdout: print,
      stderr: print,
    }).catch(() => null);
    if (ended === null && signal.aborted) return 'late';
    return ended?.code === 0 ? lines : null;
  }
}

async function stamp(path: string): Promise<string> {
  const stats = await stat(path).catch(() => null);
  return stats === null ? '' : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** A program outside the system's directories needs its installation around it: all of it, but never somebody's home. */
async function bindsOf(path: string, state: string): Promise<string[]> {
  const binds = new Set<string>();
  for (const place of [path, await realpath(path)]) {
    if (SYSTEM_ROOTS.some((root) => place.startsWith(root + sep))) continue;
    const directory = dirname(place);
    const prefix = dirname(directory);
    const own = userHome();
    const shared = ['/', '/opt', '/home', '/root', '/var', '/tmp', ...(own === null ? [] : [own, join(own, '.local')])];
    const whole = (basename(directory) === 'bin' || basename(directory) === 'shims') && !shared.includes(prefix);
    if (whole && !state.startsWith(prefix + sep)) binds.add(prefix);
    else for (const part of [directory, join(prefix, 'lib')]) if (await isThere(part)) binds.add(part);
  }
  return [...binds];
}

async function installWith(tool: Tool): Promise<string> {
  const lines: string[] = [];
  for (const [manager, command] of Object.entries(tool.install)) {
    const places = manager === 'npm' ? [] : [...SYSTEM_PATH, ...USUAL_PLACES];
    const here =
      manager === 'npm' || (await Promise.all(places.map((place) => isThere(join(place, manager))))).includes(true);
    if (here) lines.push(command);
  }
  const commands = lines.length > 0 ? lines : Object.values(tool.install);
  return `Install it with: ${commands.join('   or   ')}`;
}
