/**
 * Programs brought to this machine for builds: `<toolchains>/<name>/<version>/tree`, with `ready` beside it written last.
 * Made once in a sandbox of their own, shared by every app, writable by none.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { maxSatisfying, satisfies, validRange } from 'semver';
import { Failure } from '../../../../domain/rollouts/rollout.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { KeyedQueue } from '../../../../lib/keyed-queue.ts';
import type { Sandbox } from '../../../../lib/sandbox/sandbox.ts';
import { isThere, seal } from '../cache/copy-tree.ts';
import type { OtherVersions, SharedTool, Tool } from '../platform-file/platform-file.ts';
import type { SourceFiles } from '../../../../build-plan/source/source-files.ts';
import { runStep } from '../steps/run-step.ts';
import type { StepLimits } from '../steps/run-step.ts';
import { fillAll } from '../templates.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { SYSTEM_PATH, TOOLCHAIN_TENANT } from './programs.ts';
import type { Inherited } from './machine-settings.ts';
import type { Program } from './programs.ts';

const MAX_LINES = 20_000;
/** Of each range all versions there are would be compared with each of its parts. */
const MAX_RANGE = 500;
const LIST_MS = 60 * 60 * 1000;

export interface Brought {
  readonly version: string;
  /** To be visible wherever the programs run. */
  readonly directory: string;
  /** Directory of the programs. */
  readonly bin: string;
}

/** What a command of a toolchain needs around it. */
export interface ToolContext {
  readonly programs: readonly Program[];
  readonly settings: Inherited;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

export class Toolchains {
  readonly #directory: string;
  readonly #sandbox: Sandbox;
  readonly #limits: StepLimits;
  readonly #queue = new KeyedQueue();
  readonly #lists = new Map<string, { versions: string[]; at: number }>();

  constructor(options: { directory: string; sandbox: Sandbox; limits: StepLimits }) {
    this.#directory = options.directory;
    this.#sandbox = options.sandbox;
    this.#limits = options.limits;
  }

  /**
   * The version the source asks for when the installed one does not do, or there is none; null when it does, or none is asked for.
   * Throws Failure `invalid_config` (not a range), `toolchain_missing` (no such version).
   */
  async wanted(
    tool: Tool,
    installed: Program | null,
    files: SourceFiles,
    prepare: () => Promise<ToolContext>,
  ): Promise<Brought | null> {
    if (tool.versions === null) return null;
    const { file, key } = tool.versions.wanted;
    const own = await askedBy(files, tool.versions.wanted);
    const asked = own ?? (installed === null ? tool.versions.otherwise : null);
    if (asked === null) return null;
    const range = typeof asked === 'string' && asked.length <= MAX_RANGE ? validRange(asked) : null;
    if (range === null) {
      throw new Failure(
        'invalid_config',
        `${file}: ${key} is ${JSON.stringify(asked).slice(0, MAX_RANGE)}, which is not a range of versions.`,
        {
          hint: `Write for example ">=20" or "22.x" there.`,
        },
      );
    }
    if (installed !== null && satisfies(installed.version, range)) return null;
    const context = await prepare();
    const versions = await this.#available(tool, context).catch(async (error: unknown) => {
      // Without the registry, what was brought before still serves.
      const brought = maxSatisfying(await this.#brought(tool), range);
      if (brought === null || context.signal.aborted) throw error;
      return [brought];
    });
    const version = maxSatisfying(versions, range);
    if (version === null) throw noVersion(tool, String(asked), installed, versions);
    const instead = installed === null ? '' : ` instead of the installed ${installed.version}`;
    context.say(
      own === null
        ? `${tool.program} is not installed here: ${version} is used`
        : `${file} asks for ${tool.program} ${String(asked)}: ${version} is used${instead}`,
    );
    const { install, companions, files: seeds, bin } = tool.versions;
    const extra = companions.filter((one) => satisfies(version, one.for)).map((one) => one.argument);
    const made = { name: join(tool.program, version), what: `${tool.program} ${version}` };
    const tree = await this.#make(made, context, async (directory) => {
      for (const [path, content] of Object.entries(seeds)) await writeFile(join(directory, path), content);
      return [[...fillAll(install, { directory, version }), ...extra]];
    });
    return { version, directory: tree, bin: join(tree, bin) };
  }

  /** The directory of a tool that the builds of all apps share. */
  async shared(tool: SharedTool, version: string, context: ToolContext): Promise<string> {
    const what = `${tool.name} for ${tool.per} ${version}`;
    return this.#make({ name: join(tool.name, version), what }, context, async (directory) =>
      tool.steps.map((step) => fillAll(step, { directory })),
    );
  }

  /** `what` is how people call it. */
  async #make(
    { name, what }: { name: string; what: string },
    context: ToolContext,
    prepare: (directory: string) => Promise<string[][]>,
  ): Promise<string> {
    const home = join(this.#directory, name);
    const tree = join(home, 'tree');
    return this.#queue.run(
      name,
      async () => {
        if (await isThere(join(home, 'ready'))) return tree;
        context.say(`preparing ${what} (once, for all apps)`);
        await removeTree(home);
        await mkdir(tree, { recursive: true, mode: 0o755 });
        try {
          const commands = await prepare(tree);
          await this.#sandbox.own(tree, TOOLCHAIN_TENANT);
          for (const argv of commands) await this.#run(argv, what, tree, context);
          await seal(tree);
          await writeFile(join(home, 'ready'), '');
          return tree;
        } catch (error) {
          await removeTree(home);
          throw error;
        }
      },
      context.signal,
    );
  }

  async #brought(tool: Tool): Promise<string[]> {
    const directory = join(this.#directory, tool.program);
    const versions = await readdir(directory).catch(() => []);
    const ready = await Promise.all(versions.map((version) => isThere(join(directory, version, 'ready'))));
    return versions.filter((_, index) => ready[index]);
  }

  async #available(tool: Tool, context: ToolContext): Promise<string[]> {
    const key = (tool.versions?.available ?? []).join(' ');
    const known = this.#lists.get(key);
    if (known !== undefined && Date.now() - known.at < LIST_MS) return known.versions;
    const directory = await this.#temporary();
    const text = await this.#run(
      tool.versions?.available ?? [],
      `the list of versions of ${tool.program}`,
      directory,
      context,
    ).finally(() => removeTree(directory));
    const versions = versionList(text);
    if (versions.length === 0) {
      throw new Failure('toolchain_missing', `The list of versions of ${tool.program} could not be read.`, {
        lines: text.split('\n').slice(-50),
      });
    }
    this.#lists.set(key, { versions, at: Date.now() });
    return versions;
  }

  async #temporary(files: Readonly<Record<string, string>> = {}): Promise<string> {
    const directory = join(this.#directory, `.tmp-${randomHex(16)}`);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    await this.#sandbox.own(directory, TOOLCHAIN_TENANT);
    return directory;
  }

  /** Returns the standard output. */
  async #run(argv: readonly string[], what: string, directory: string, context: ToolContext): Promise<string> {
    const [program = '', ...rest] = argv;
    const path = context.programs.find((found) => found.program === program)?.path ?? program;
    const output: string[] = [];
    const printed: string[] = [];
    const keep = (lines: string[], line: string): void => void (lines.length < MAX_LINES && lines.push(line));
    const home = await this.#temporary(context.settings.homeFiles);
    const ended = await runStep(this.#sandbox, {
      argv: [path, ...rest],
      cwd: directory,
      env: {
        ...context.settings.variables,
        PATH: [...new Set([...context.programs.map((found) => dirname(found.path)), ...SYSTEM_PATH])].join(delimiter),
        HOME: home,
        TMPDIR: home,
      },
      tenant: TOOLCHAIN_TENANT,
      binds: [
        ...[directory, home].map((bind) => ({ path: bind, writable: true })),
        ...context.programs.flatMap((found) => found.binds).map((bind) => ({ path: bind, writable: false })),
      ],
      limits: this.#limits,
      signal: context.signal,
      stdout: (line) => (keep(output, line), keep(printed, line)),
      stderr: (line) => keep(printed, line),
    }).finally(() => removeTree(home));
    if (ended.code !== 0) {
      throw new Failure(
        'toolchain_missing',
        `Bringing ${what} to this machine failed (${argv.join(' ')}: exit code ${ended.code}).`,
        {
          hint: 'Check that the server reaches the package registry, then push again.',
          lines: printed.slice(-50),
        },
      );
    }
    return output.join('\n');
  }
}

function versionList(text: string): string[] {
  try {
    const list = JSON.parse(text) as unknown;
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

/** What the source says; null when it says nothing of this tool. A hash behind the version is no part of it. */
async function askedBy(files: SourceFiles, { file, key, prefix }: OtherVersions['wanted']): Promise<unknown> {
  const value = await files.jsonValue(file, key);
  if (value === undefined || value === null || value === '') return null;
  if (prefix === '') return value;
  return typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length).split('+')[0] : null;
}

function noVersion(tool: Tool, asked: string, installed: Program | null, versions: readonly string[]): Failure {
  const latest = new Map<string, string>();
  for (const version of versions) if (!version.includes('-')) latest.set(version.split('.')[0] ?? '', version);
  const offered = [...latest.values()].slice(-12).join(', ');
  return new Failure('toolchain_missing', `No version of ${tool.program} matches "${asked}".`, {
    hint: `Installed here: ${installed?.version ?? 'none'}; available: ${offered}. Change ${tool.versions?.wanted.key} in ${tool.versions?.wanted.file}.`,
  });
}
