/** Runs the steps of one build: private directories, environment, sandbox, output. */
import { createHash } from 'node:crypto';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isThere } from '../../../../lib/is-there.ts';
import { isLargerThan } from '../cache/copy-tree.ts';
import type { Step } from '../../../../build-plan/build-plan.ts';
import { buildEnvironment, planVariables } from '../environment.ts';
import { stepFailure } from '../failures.ts';
import { fillAll } from '../templates.ts';
import type { ToolContext } from '../toolchain/toolchains.ts';
import type { Inherited } from '../toolchain/machine-settings.ts';
import type { RunningBuild } from '../running-build.ts';
import { removeTree } from '../../../../lib/remove-tree.ts';
import { MACHINE_FILES } from '../../../../domain/artifacts/slug.ts';
import type { SandboxRequest } from '../../../../sandbox/sandbox.ts';
import { onSharedRoot } from '../../../../sandbox/shared-root.ts';
import { runStep } from './run-step.ts';

const MAX_DOWNLOADS = 2 * 1024 ** 3;
/** Looking at all of it takes a while. */
const MEASURED_MS = 3_600_000;

interface StepPlace {
  /** True: the arguments are a user's words, not templates. */
  readonly verbatim?: boolean;
  /** The dependency layer the step makes or uses. */
  readonly layer?: { readonly tree: string; readonly writable: boolean };
}

export class StepRunner {
  readonly #build: RunningBuild;
  readonly #temporary: string;
  readonly #downloads: string;
  /** Notes of steps that are run once. */
  readonly #once: string;
  /** Its time is that of the last look at how large the downloads are. */
  readonly #measured: string;
  #prepared = false;
  #isTooLarge: Promise<boolean> = Promise.resolve(false);

  constructor(build: RunningBuild) {
    this.#build = build;
    const { context, request } = build;
    this.#temporary = join(context.cache, request.app, `build-${request.deployId}`);
    this.#downloads = join(context.cache, request.app, 'downloads');
    this.#once = join(context.cache, request.app, 'once');
    this.#measured = join(context.cache, request.app, 'measured');
  }

  /** What it would do has been done by an earlier build, and is still there. */
  async isDone(step: Step): Promise<boolean> {
    if (step.once !== true) return false;
    await this.#prepare();
    return isThere(await this.#noteOf(step));
  }

  /** Throws Failure `build_failed` or `disk_full` when the command does not end with 0. */
  async run(step: Step, where: StepPlace = {}): Promise<void> {
    const { name, run: templates, directory = '', env = {} } = step;
    const { context, request, place, output, signal, programs } = this.#build;
    await this.#prepare();
    const values = await this.#values(templates, where);
    const argv = where.verbatim === true ? templates : fillAll(templates, values);
    const program =
      (await this.#fetchedProgram(argv[0] ?? '')) ?? programs.find((found) => found.program === argv[0])?.path;
    output.begin();
    const print = (text: string): void => output.printed(text);
    const ended = await runStep(context.sandbox, {
      argv: [program ?? argv[0] ?? '', ...argv.slice(1)],
      cwd: join(place.code, directory),
      env: await this.#environment(values, where, env),
      tenant: request.app,
      ...this.#surroundings(where, values),
      limits: context.limits,
      signal,
      stdout: print,
      stderr: print,
    });
    if (ended.code !== 0) throw stepFailure(name, ended, output, context.limits.memoryBytes);
    if (step.once !== true) return;
    await mkdir(this.#once, { recursive: true, mode: 0o711 });
    await writeFile(await this.#noteOf(step), '');
  }

  /** The words name the tools in their versions. */
  async #noteOf({ run }: Step): Promise<string> {
    const words = fillAll(run, await this.#values(run, {}));
    return join(this.#once, createHash('sha256').update(JSON.stringify(words)).digest('hex'));
  }

  async #fetchedProgram(name: string): Promise<string | null> {
    for (const { bin } of this.#build.fetched) if (await isThere(join(bin, name))) return join(bin, name);
    return null;
  }

  /** Programs and settings for the commands that fetch tools. */
  async toolContext(): Promise<ToolContext> {
    const { output, signal, machinePrograms: programs } = this.#build;
    return { programs, settings: await this.#machine(), signal, say: (text) => output.say(text) };
  }

  async close(): Promise<void> {
    if (!this.#prepared) return;
    await removeTree(this.#temporary);
    if (await this.#isTooLarge) await removeTree(this.#downloads);
  }

  async #prepare(): Promise<void> {
    if (this.#prepared) return;
    this.#prepared = true;
    const { sandbox } = this.#build.context;
    const tenant = this.#build.request.app;
    for (const name of ['home', 'tmp']) await mkdir(join(this.#temporary, name), { recursive: true, mode: 0o755 });
    const { homeFiles } = await this.#machine();
    for (const [name, text] of Object.entries(homeFiles)) await writeFile(join(this.#temporary, 'home', name), text);
    await sandbox.own(join(this.#temporary, 'home'), tenant);
    await sandbox.own(join(this.#temporary, 'tmp'), tenant);
    if (await isThere(this.#downloads)) {
      this.#isTooLarge = this.#measure();
      return;
    }
    await removeTree(this.#once);
    await mkdir(this.#downloads, { recursive: true, mode: 0o755 });
    await sandbox.own(this.#downloads, tenant);
  }

  /** Beside the steps, which nobody wants to wait. */
  async #measure(): Promise<boolean> {
    const last = await stat(this.#measured).catch(() => null);
    if (last !== null && Date.now() - last.mtimeMs < MEASURED_MS) return false;
    const isTooLarge = await isLargerThan(this.#downloads, MAX_DOWNLOADS);
    await writeFile(this.#measured, '');
    return isTooLarge;
  }

  async #values(templates: readonly string[], where: StepPlace): Promise<Record<string, string>> {
    const { context, request, plan, place } = this.#build;
    const values: Record<string, string> = { app: request.app, code: place.code, downloads: this.#downloads };
    if (where.layer !== undefined) values['layer'] = where.layer.tree;
    if (where.verbatim === true) return values;
    for (const tool of plan.sharedTools) {
      if (!templates.some((template) => template.includes(`{${tool.name}}`))) continue;
      const version = this.#build.programs.find((found) => found.program === tool.per)?.version ?? '';
      values[tool.name] = await context.toolchains.shared(tool, version, await this.toolContext());
    }
    return values;
  }

  async #environment(
    values: Readonly<Record<string, string>>,
    where: StepPlace,
    step: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const { request, plan, programs, fetched, base } = this.#build;
    return buildEnvironment({
      machine: { ...(await this.#machine()).variables, ...base?.env },
      platform: planVariables(plan, 'build', values, programs),
      step,
      app: request.env,
      path: [
        ...(where.layer === undefined ? [] : [join(where.layer.tree, 'bin')]),
        ...fetched.map((tool) => tool.bin),
        ...programs.map((program) => dirname(program.path)),
        ...(base?.path ?? []),
      ],
      home: join(this.#temporary, 'home'),
      temporary: join(this.#temporary, 'tmp'),
    });
  }

  async #machine(): Promise<Inherited> {
    const { context, plan, machinePrograms: programs } = this.#build;
    const find = (name: string): string | null => programs.find((found) => found.program === name)?.path ?? null;
    return context.settings.of(plan, find);
  }

  /** On the base, where there is one, in place of the machine. */
  #surroundings(where: StepPlace, values: Readonly<Record<string, string>>): Pick<SandboxRequest, 'binds' | 'root'> {
    const { base } = this.#build;
    const binds = this.#binds(where, values);
    if (base === null) return { binds };
    const on = onSharedRoot(base, { temporary: join(this.#temporary, 'tmp'), files: MACHINE_FILES });
    return { root: on.root, binds: [...on.binds, ...binds] };
  }

  #binds(where: StepPlace, values: Readonly<Record<string, string>>): { path: string; writable: boolean }[] {
    const { context, request, plan, place, programs, fetched } = this.#build;
    const own = [join(this.#temporary, 'home'), join(this.#temporary, 'tmp'), this.#downloads];
    if (where.layer?.writable === true) own.push(where.layer.tree);
    // One mount, for files are not linked from one to another. Who may write where in it, is said by owners.
    const isOneMount = where.layer?.writable === true && context.separated;
    const writable = [place.code, ...(isOneMount ? [join(context.cache, request.app)] : own)];
    const readable = [
      ...programs.flatMap((program) => program.binds),
      ...fetched.map((tool) => tool.directory),
      ...plan.sharedTools.flatMap((tool) => values[tool.name] ?? []),
    ];
    if (where.layer?.writable === false) readable.push(where.layer.tree);
    return [
      ...readable.map((path) => ({ path, writable: false })),
      ...writable.map((path) => ({ path, writable: true })),
    ];
  }
}
