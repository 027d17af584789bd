/** An app that is installed, built and started by hand: until it answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../test/support/free-port.ts';
import { run } from '../test/support/world.ts';
import { firstAnswer } from './first-answer.ts';
import type { PackageApp } from './package-apps.ts';

const COMMAND_MS = 10 * 60_000;

export interface Hand {
  /** Where the app is. */
  readonly directory: string;
  /** What package managers keep. */
  readonly caches: string;
  readonly path: string;
  /** '' where no app needs it. */
  readonly uv: string;
}

export async function runAll(commands: readonly (readonly string[])[], app: PackageApp, hand: Hand): Promise<void> {
  for (const words of commands) {
    const [program = '', ...args] = words.map((word) => filled(word, hand));
    const ran = await run(program, args, { cwd: hand.directory, env: environment(app, hand), timeoutMs: COMMAND_MS });
    if (ran.code !== 0) throw new Error(`${words.join(' ')}: ${ran.stderr || ran.stdout}`);
  }
}

/** Milliseconds of all commands and the start, to the first answer. */
export async function byHandMs(app: PackageApp, hand: Hand): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  await runAll(app.byHand, app, hand);
  const [program = '', ...args] = app.start.map((word) => filled(word, hand).replaceAll('{port}', String(port)));
  const child = spawn(program, args, {
    cwd: hand.directory,
    env: { ...environment(app, hand), PORT: String(port) },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const stop = new AbortController();
  ended.then(
    () => stop.abort(new Error(`${app.start.join(' ')} ended`)),
    (error: unknown) => stop.abort(error),
  );
  try {
    const isRight = (text: string): boolean => text.includes(app.page);
    return (await firstAnswer({ port, host: 'localhost' }, isRight, stop.signal)).at - begun;
  } finally {
    child.kill('SIGTERM');
    await ended.catch(() => {});
  }
}

function filled(word: string, { caches, uv }: Hand): string {
  return word.replaceAll('{caches}', caches).replaceAll('{uv}', uv);
}

/** Nothing that the person has set: the platform's builds do not see it either, but for the way to registries. */
function environment(app: PackageApp, hand: Hand): Record<string, string> {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name));
  const own = Object.entries(app.env).map(([name, value]) => [name, filled(value, hand)]);
  return Object.fromEntries([...inherited, ['PATH', hand.path], ['HOME', hand.caches], ...own]) as Record<
    string,
    string
  >;
}

const INHERITED = /^(?:https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|npm_config_registry|PIP_.*|SSL_CERT_FILE|GOPROXY)$/i;
