/** Starts a process type of a slug the way a unit is started, for tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { SlugManifest } from '../../src/domain/artifacts/slug.ts';
import { freePort } from './free-port.ts';

export interface RunningProcess {
  readonly url: string;
  /** Everything printed so far. */
  output(): string;
  stop(): Promise<void>;
}

export interface ProcessToStart {
  readonly command: string;
  readonly cwd: string;
  readonly manifest: Pick<SlugManifest, 'path' | 'env'>;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startProcess({ command, cwd, manifest, env = {} }: ProcessToStart): Promise<RunningProcess> {
  const port = await freePort();
  const child = spawn('/bin/sh', ['-c', command], {
    cwd,
    env: {
      ...manifest.env,
      PATH: [...manifest.path, '/usr/local/bin:/usr/bin:/bin'].join(':'),
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const closed = once(child, 'close');
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    async stop() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
      await closed;
    },
  };
}

/** Asks again until there is an answer, for at most a minute. */
export async function answer(running: RunningProcess, path = '/'): Promise<Response> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    try {
      return await fetch(running.url + path);
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`no answer; printed: ${running.output()}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
