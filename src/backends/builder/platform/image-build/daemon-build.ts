/**
 * Has an image built by a daemon that the operator has named: Docker's, or BuildKit's. It brings the images that a build begins with, and
 * what the steps may do and reach is what it lets them.
 */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { ImageClient } from '../builder-context.ts';
import { Failure } from '../../../../domain/failure.ts';
import type { RegistryCredentials } from '../../../../domain/registries/registry-login.ts';
import { isRecord } from '../../../../lib/is-record.ts';
import { stepFailure } from '../failures.ts';
import type { RunningBuild } from '../running-build.ts';
import { takeApart } from './docker-archive.ts';
import { type ClientEnd, runClient } from './run-client.ts';

interface DaemonPlaces {
  /** The source. */
  readonly context: string;
  /** Exists and is empty; nobody else reads it. */
  readonly settings: string;
  /** Exists and is empty; gets the result. */
  readonly out: string;
}

interface Wanted {
  /** Below the source. */
  readonly file: string;
  readonly target: string;
  readonly args: Readonly<Record<string, string>>;
}

const REMOVAL_MS = 30_000;
const STEP = /^(?:Step \d+\/\d+ : |#\d+ \[[^\]]*\d+\/\d+\] )(.*)$/;
const AWAY =
  /Cannot connect to the Docker daemon|error during connect|docker daemon is not running|^error: .*(?:connection error|failed to dial|no such file or directory"|context deadline exceeded)|listing workers for Build/;

export async function buildByDaemon(
  build: RunningBuild,
  client: ImageClient,
  places: DaemonPlaces,
  wanted: Wanted,
): Promise<void> {
  const env = { ...client.environment, ...(await loginsFor(build, client, places.settings)) };
  const archive = join(places.settings, 'image.tar');
  const { request, signal } = build;
  if (client.builder.kind === 'buildkit') {
    await steps(build, buildkitCommand(client.builder.address, places.context, wanted, archive), env);
  } else {
    const tag = `tancho/${request.app}:${request.deployId}`;
    try {
      await steps(build, dockerCommand(places.context, wanted, tag), env);
      await quietly(build, ['docker', 'save', '--output', archive, tag], env);
    } finally {
      // What it was made of stays, for the next build. Where the build failed there is none.
      const removal = { ...build, signal: AbortSignal.timeout(REMOVAL_MS) };
      await quietly(removal, ['docker', 'image', 'rm', '--no-prune', tag], env).catch(() => undefined);
    }
  }
  await takeApart(archive, places.out, signal);
}

function dockerCommand(context: string, { file, target, args }: Wanted, tag: string): string[] {
  return [
    ...['docker', 'build', '--file', join(context, file), '--tag', tag],
    // Not in its environment, though others would not see them there: programs that it starts, as for logins, would heed variables of an app.
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...(target === '' ? [] : ['--target', target]),
    context,
  ];
}

function buildkitCommand(address: string, context: string, { file, target, args }: Wanted, archive: string): string[] {
  const path = join(context, file);
  return [
    ...['buildctl', '--addr', address, 'build', '--progress', 'plain', '--frontend', 'dockerfile.v0'],
    ...[
      '--local',
      `context=${context}`,
      '--local',
      `dockerfile=${dirname(path)}`,
      '--opt',
      `filename=${basename(path)}`,
    ],
    ...Object.entries(args).flatMap(([name, value]) => ['--opt', `build-arg:${name}=${value}`]),
    ...(target === '' ? [] : ['--opt', `target=${target}`]),
    ...['--output', `type=docker,dest=${archive}`],
  ];
}

/** Throws Failure `build_failed`, `toolchain_missing` where the daemon is away. */
async function steps(build: RunningBuild, argv: readonly string[], env: Record<string, string>): Promise<void> {
  const { output, programs, signal } = build;
  let step = argv[0] ?? '';
  let isAway = false;
  output.begin();
  const line = (text: string): void => {
    step = STEP.exec(text)?.[1] ?? step;
    isAway ||= AWAY.test(text);
    output.printed(text);
  };
  const ended = await runClient({ argv: found(programs, argv), env, signal, line });
  if (ended.code === 0) return;
  throw isAway ? away(argv[0] ?? '', output.tail) : stepFailure(step, { ...ended, outOfMemory: false }, output, 0);
}

/** Silent unless it fails. */
async function quietly(build: RunningBuild, argv: readonly string[], env: Record<string, string>): Promise<void> {
  const { programs, signal } = build;
  const tail: string[] = [];
  const line = (text: string): void => void (tail.push(text), tail.length > 50 && tail.shift());
  const ended: ClientEnd = await runClient({ argv: found(programs, argv), env, signal, line });
  if (ended.code === 0) return;
  const said = { tail, advice: null, cause: null };
  throw stepFailure(argv.slice(0, 2).join(' '), { ...ended, outOfMemory: false }, said, 0);
}

function found(programs: RunningBuild['programs'], [program = '', ...rest]: readonly string[]): string[] {
  return [programs.find((each) => each.program === program)?.path ?? program, ...rest];
}

function away(program: string, lines: readonly string[]): Failure {
  const kind: Readonly<Record<string, string>> = { docker: 'Docker', buildctl: 'BuildKit' };
  return new Failure('toolchain_missing', `${kind[program] ?? program}, which builds images here, does not answer.`, {
    hint: 'Ask the operator to start its daemon, or to take away the setting "images.builder"; then push again.',
    lines,
  });
}

/** The programs look for logins in one file. What people have there for the server's user holds beside those of the team. */
async function loginsFor(
  { request }: RunningBuild,
  { environment }: ImageClient,
  directory: string,
): Promise<Record<string, string>> {
  const logins: ReadonlyMap<string, RegistryCredentials> =
    request.registryLogins ?? new Map<string, RegistryCredentials>();
  if (logins.size === 0) return {};
  const usual = environment['DOCKER_CONFIG'] ?? join(environment['HOME'] ?? '/root', '.docker');
  const own = join(directory, 'docker');
  await mkdir(own, { mode: 0o700 });
  const text = await readFile(join(usual, 'config.json'), 'utf8').catch(() => '{}');
  const config = recordOf(text);
  const auths = isRecord(config['auths']) ? config['auths'] : {};
  const added = [...logins].map(([host, { user, password }]) => [
    host === 'docker.io' ? 'https://index.docker.io/v1/' : host,
    { auth: Buffer.from(`${user}:${password}`).toString('base64') },
  ]);
  const whole = { ...config, auths: { ...auths, ...(Object.fromEntries(added) as Record<string, unknown>) } };
  await writeFile(join(own, 'config.json'), JSON.stringify(whole), { mode: 0o600 });
  for (const name of ['contexts', 'cli-plugins']) await symlink(join(usual, name), join(own, name));
  return { DOCKER_CONFIG: own };
}

function recordOf(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
