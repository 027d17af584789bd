/**
 * Programs fetched to this machine for builds: `<toolchains>/<name>/<version>/tree`, with `ready` beside it written last.
 * Made once in a sandbox of their own, shared by every app, writable by none.
 */
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { maxSatisfying, satisfies, valid } from 'semver';
import { Failure } from '../../../../domain/failure.ts';
import { diskUsage } from '../../../../lib/disk-usage.ts';
import { randomHex } from '../../../../lib/ids.ts';
import { KeyedQueue } from '../../../../lib/keyed-queue.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { isThere } from '../../../../lib/is-there.ts';
import { seal } from '../cache/copy-tree.ts';
import type { SharedTool, Tool } from '../../../../build-plan/build-plan.ts';
import { runStep } from '../steps/run-step.ts';
import type { StepLimits } from '../steps/run-step.ts';
import { fillAll } from '../templates.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { newestOfEach } from './newest-of-each.ts';
import { SYSTEM_PATH, TOOLCHAIN_TENANT } from './programs.ts';
import type { Inherited } from './machine-settings.ts';
import type { FoundProgram } from './programs.ts';

/** The file beside the tree of a toolchain that is whole; its time is that of the last use. */
const READY = 'ready';
const TEMPORARY = '.tmp-';
/** No build takes so long. */
const LEFT_MS = 25 * 3_600_000;
const MAX_LINES = 20_000;
const LIST_MS = 60 * 60 * 1000;
/** Of the versions that there are, so many are named to people. */
const NAMED = 12;

export interface FetchedTool {
  readonly version: string;
  /** To be visible wherever the programs run. */
  readonly directory: string;
  /** Directory of the programs. */
  readonly bin: string;
}

/** What a command of a toolchain needs around it. */
export interface ToolContext {
  readonly programs: readonly FoundProgram[];
  readonly settings: Inherited;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** Of a shared tool that its commands use: what `{name}` in them stands for. */
  readonly helper?: { readonly name: string; readonly directory: string };
  /** What to do when it fails. */
  readonly hint?: string;
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
   * The newest version that the tool is wanted in; without a wish, of those that stand in for a missing one.
   * Throws Failure `toolchain_missing` (no such version, or it cannot be fetched).
   */
  async fetch(tool: Tool, installed: string | null, prepare: () => Promise<ToolContext>): Promise<FetchedTool | null> {
    const { download = null, wanted = null } = tool;
    const range = wanted?.range ?? download?.otherwise ?? null;
    if (download === null || range === null) return null;
    const plain = await prepare();
    const { by, hint } = download;
    const ofOther = plain.programs.find(({ program }) => program === by?.per && program !== tool.program);
    const per = ofOther?.version ?? installed ?? '';
    const helper = by && { name: by.name, directory: await this.shared(by, per, plain) };
    const context = { ...plain, ...(helper && { helper }), ...(hint !== undefined && { hint }) };
    const versions = await this.#available(tool, context).catch(async (error: unknown) => {
      // Without the registry, what was fetched before still serves.
      const fetched = maxSatisfying(await this.#fetched(tool), range);
      if (fetched === null || context.signal.aborted) throw error;
      return [fetched];
    });
    // A registry need not have every release: a later one with only corrections stands in for it.
    const version = maxSatisfying(versions, range) ?? (valid(range) && maxSatisfying(versions, `~${range}`));
    if (version === null) throw noVersion(tool, range, installed, versions);
    const { install, companions = [], files: seeds = {}, bin } = download;
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
        if (await isThere(join(home, READY))) {
          // When it was last used.
          await utimes(join(home, READY), new Date(), new Date());
          return tree;
        }
        context.say(`preparing ${what} (once, for all apps)`);
        await removeTree(home);
        await mkdir(tree, { recursive: true, mode: 0o755 });
        try {
          const commands = await prepare(tree);
          await this.#sandbox.own(tree, TOOLCHAIN_TENANT);
          for (const argv of commands) await this.#run(argv, what, tree, context);
          await seal(tree);
          await writeFile(join(home, READY), '');
          return tree;
        } catch (error) {
          await removeTree(home);
          throw error;
        }
      },
      context.signal,
    );
  }

  /**
   * Removes what no build has used since then and no slug needs (`needed`: directories that slugs bind), what those hold too much that were used
   * least recently, and what interrupted builds left. Of no slug yet, but of builds that go on, are those used from `beginning` on. Answers names
   * such as `node/20.1.0`.
   */
  async removeUnused(needed: ReadonlySet<string>, since: Date, maxBytes: number, beginning: Date): Promise<string[]> {
    const isNeeded = (tree: string): boolean => [...needed].some((path) => `${path}/`.startsWith(`${tree}/`));
    const removed: string[] = [];
    const remove = async (name: string, before: Date): Promise<boolean> =>
      this.#queue.run(name, async () => {
        const home = join(this.#directory, name);
        const used = await stat(join(home, READY)).catch(() => null);
        if (used === null || used.mtime >= before || isNeeded(join(home, 'tree'))) return false;
        await removeTree(home);
        removed.push(name);
        return true;
      });
    await this.#removeLeft();
    for (const { name } of await this.#made()) await remove(name, since);
    if (maxBytes === 0) return removed;
    const left = await this.#made();
    const sizes = await Promise.all(left.map(({ name }) => diskUsage(join(this.#directory, name))));
    let sum = sizes.reduce<number>((all, bytes) => all + (bytes ?? 0), 0);
    for (const [index, { name }] of left.entries()) {
      if (sum <= maxBytes) break;
      if (await remove(name, beginning)) sum -= sizes[index] ?? 0;
    }
    return removed;
  }

  /** Those that are whole, the one used least recently first. */
  async #made(): Promise<{ readonly name: string; readonly usedMs: number }[]> {
    const found: { name: string; usedMs: number }[] = [];
    for (const program of await readdir(this.#directory)) {
      for (const version of await readdir(join(this.#directory, program)).catch(() => [])) {
        const name = join(program, version);
        const ready = await stat(join(this.#directory, name, READY)).catch(() => null);
        if (ready !== null) found.push({ name, usedMs: ready.mtimeMs });
      }
    }
    return found.sort((a, b) => a.usedMs - b.usedMs);
  }

  /** Files for one command, of builds that were killed. */
  async #removeLeft(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      const path = join(this.#directory, name);
      const age = Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? Date.now());
      if (name.startsWith(TEMPORARY) && age > LEFT_MS) await removeTree(path);
    }
  }

  async #fetched(tool: Tool): Promise<string[]> {
    const directory = join(this.#directory, tool.program);
    const versions = await readdir(directory).catch(() => []);
    const ready = await Promise.all(versions.map((version) => isThere(join(directory, version, READY))));
    return versions.filter((_, index) => ready[index]);
  }

  async #available(tool: Tool, context: ToolContext): Promise<string[]> {
    const key = (tool.download?.available ?? []).join(' ');
    const known = this.#lists.get(key);
    if (known !== undefined && Date.now() - known.at < LIST_MS) return known.versions;
    const directory = await this.#temporary();
    const text = await this.#run(
      tool.download?.available ?? [],
      `the list of versions of ${tool.program}`,
      directory,
      context,
    ).finally(() => removeTree(directory));
    const versions = versionList(text);
    if (versions.length === 0) {
      throw new Failure('toolchain_missing', `The list of versions of ${tool.program} could not be read.`, {
        hint: `Push again; if it stays so, an operator has to look at what "${(tool.download?.available ?? []).slice(0, 6).join(' ')}" prints on the server.`,
        lines: text.split('\n').slice(-50),
      });
    }
    this.#lists.set(key, { versions, at: Date.now() });
    return versions;
  }

  async #temporary(files: Readonly<Record<string, string>> = {}): Promise<string> {
    const directory = join(this.#directory, `${TEMPORARY}${randomHex(16)}`);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    await this.#sandbox.own(directory, TOOLCHAIN_TENANT);
    return directory;
  }

  /** Returns the standard output. */
  async #run(argv: readonly string[], what: string, directory: string, context: ToolContext): Promise<string> {
    const { helper } = context;
    const [program = '', ...rest] = helper === undefined ? argv : fillAll(argv, { [helper.name]: helper.directory });
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
        ...[
          ...context.programs.flatMap((found) => found.binds),
          ...(helper === undefined ? [] : [helper.directory]),
        ].map((bind) => ({ path: bind, writable: false })),
      ],
      limits: this.#limits,
      signal: context.signal,
      stdout: (line) => (keep(output, line), keep(printed, line)),
      stderr: (line) => keep(printed, line),
    }).finally(() => removeTree(home));
    if (ended.code !== 0) {
      throw new Failure(
        'toolchain_missing',
        `Fetching ${what} to this machine failed (${argv.join(' ')}: exit code ${ended.code}).`,
        {
          hint: context.hint ?? 'Check that the server reaches the package registry, then push again.',
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

function noVersion(tool: Tool, range: string, installed: string | null, versions: readonly string[]): Failure {
  const offered = newestOfEach(versions, NAMED).join(', ');
  const { wanted = null } = tool;
  const change = wanted === null ? '' : ` Change ${wanted.from} and push again.`;
  return new Failure('toolchain_missing', `No version of ${tool.program} matches "${wanted?.text ?? range}".`, {
    hint: `Installed here: ${installed ?? 'none'}; available: ${offered}.${change}`,
  });
}
