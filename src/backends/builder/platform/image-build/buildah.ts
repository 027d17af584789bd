/**
 * Runs buildah as root among users of the build's own, in the network and within the limits of builds. It gets images from directories only and
 * leaves its result in one; what it keeps between builds belongs to one app.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stepFailure } from '../failures.ts';
import type { RunningBuild } from '../running-build.ts';
import type { BuildOutput } from '../steps/output.ts';
import { type Ended, runStep } from '../steps/run-step.ts';
import { SYSTEM_PATH } from '../toolchain/programs.ts';
import type { DockerfileBase } from './bases.ts';

export interface ImagePlaces {
  /** The source. */
  readonly context: string;
  /** One directory for each image that is begun with. */
  readonly bases: string;
  readonly settings: string;
  /** Gets the result. */
  readonly out: string;
  readonly temporary: string;
  /** Layers that earlier builds of the app have made. */
  readonly store: string;
}

interface Wanted {
  readonly target: string;
  readonly args: Readonly<Record<string, string>>;
  readonly bases: readonly DockerfileBase[];
}

/** Where buildah sees them. */
const IN = {
  context: '/build/context',
  bases: '/build/bases',
  settings: '/build/settings',
  out: '/build/out',
  temporary: '/build/tmp',
  store: '/build/store',
} as const;
const POLICY = JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] });
/** No name is looked for anywhere else. */
const REGISTRIES = 'unqualified-search-registries = []\n';
const RESULT = 'localhost/result';
/** Lines of buildah about its own bookkeeping. */
const BOOKKEEPING =
  /^(?:--> [0-9a-f]{11,64}|[0-9a-f]{64}|Successfully tagged localhost\/.*|(?:\[\d+\/\d+\] )?COMMIT localhost\/\S+)$/;
const STEP = /^(?:\[\d+\/\d+\] )?STEP \d+\/\d+: (.*)$/;

export class Buildah {
  readonly #build: RunningBuild;
  readonly #places: ImagePlaces;
  readonly #driver: string;
  readonly #variables: Readonly<Record<string, string>>;

  private constructor(build: RunningBuild, places: ImagePlaces, driver: string, variables: Record<string, string>) {
    this.#build = build;
    this.#places = places;
    this.#driver = driver;
    this.#variables = variables;
  }

  static async open(build: RunningBuild, places: ImagePlaces, dockerfile: string): Promise<Buildah> {
    const { context, plan } = build;
    await writeFile(join(places.settings, 'policy.json'), POLICY);
    await writeFile(join(places.settings, 'registries.conf'), REGISTRIES);
    await writeFile(join(places.settings, 'Dockerfile'), dockerfile);
    const { variables } = await context.settings.of(plan, () => null);
    const overlay = new Buildah(build, places, 'overlay', variables);
    // Some file systems, and older kernels, put no layers over each other for such users: then each is a copy.
    const works = (await overlay.#run(['images', '--quiet'], () => {})).code === 0;
    return works ? overlay : new Buildah(build, places, 'vfs', variables);
  }

  async addBase({ name, tag }: DockerfileBase): Promise<void> {
    let id = '';
    const pull = ['pull', '--quiet', '--signature-policy', `${IN.settings}/policy.json`, `dir:${IN.bases}/${name}`];
    await this.#succeed('buildah pull', pull, (line) => {
      if (/^[0-9a-f]{64}$/.test(line.trim())) id = line.trim();
    });
    await this.#succeed('buildah tag', ['tag', id, tag], () => {});
  }

  async build({ target, args, bases }: Wanted): Promise<void> {
    const { output } = this.#build;
    let step = 'buildah';
    const shown = (line: string): string => bases.reduce((text, { tag, image }) => text.replaceAll(tag, image), line);
    output.begin();
    const ended = await this.#run(
      [
        ...['bud', '--isolation', 'chroot', '--layers', '--pull-never', '--format', 'docker'],
        ...['--signature-policy', `${IN.settings}/policy.json`, '--file', `${IN.settings}/Dockerfile`, '--tag', RESULT],
        ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        ...(target === '' ? [] : ['--target', target]),
        IN.context,
      ],
      (line) => {
        if (BOOKKEEPING.test(line.trim())) return;
        step = STEP.exec(line)?.[1] ?? step;
        output.printed(shown(line));
      },
    );
    if (ended.code !== 0) throw stepFailure(shown(step), ended, output, this.#build.context.limits.memoryBytes);
  }

  /** Not packed: it is unpacked at once. */
  async save(): Promise<void> {
    const policy = ['--signature-policy', `${IN.settings}/policy.json`];
    await this.#succeed(
      'buildah push',
      ['push', '--quiet', '--disable-compression', ...policy, RESULT, `dir:${IN.out}`],
      () => {},
    );
  }

  /** Silent unless it fails. */
  async #succeed(name: string, args: readonly string[], line: (text: string) => void): Promise<void> {
    const { output, context } = this.#build;
    const tail: string[] = [];
    const ended = await this.#run(args, (text) => {
      tail.push(text);
      line(text);
    });
    if (ended.code === 0) return;
    const { advice, cause } = output;
    const said: Pick<BuildOutput, 'tail' | 'advice' | 'cause'> = { tail: tail.slice(-50), advice, cause };
    throw stepFailure(name, ended, said, context.limits.memoryBytes);
  }

  #run(args: readonly string[], line: (text: string) => void): Promise<Ended> {
    const { context, request, programs, signal } = this.#build;
    const { path = 'buildah' } = programs.find(({ program }) => program === 'buildah') ?? {};
    const store = ['--root', `${IN.store}/root`, '--runroot', `${IN.store}/run`, '--storage-driver', this.#driver];
    const writable = new Set<keyof ImagePlaces>(['out', 'temporary', 'store']);
    const names = Object.keys(IN) as (keyof ImagePlaces)[];
    return runStep(context.sandbox, {
      argv: [path, '--registries-conf', `${IN.settings}/registries.conf`, ...store, ...args],
      cwd: '/',
      env: {
        ...this.#variables,
        LANG: 'C.UTF-8',
        PATH: SYSTEM_PATH.join(':'),
        HOME: IN.temporary,
        TMPDIR: IN.temporary,
      },
      tenant: request.app,
      binds: names.map((name) => ({ path: this.#places[name], writable: writable.has(name), at: IN[name] })),
      limits: context.limits,
      signal,
      manyUsers: true,
      stdout: line,
      stderr: line,
    });
  }
}
