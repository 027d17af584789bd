/** The floor of every start of an app: `node server.js` by itself, from spawning to its first answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { firstAnswer } from './first-answer.ts';
import { isStart } from './sample-apps.ts';
import { freePort } from '../test/support/free-port.ts';

export async function nodeStartMs(directory: string): Promise<number> {
  const port = await freePort();
  const begun = performance.now();
  const child = spawn('node', ['server.js'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: String(port) },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const stop = new AbortController();
  ended.then(
    () => stop.abort(new Error('the app ended')),
    (error: unknown) => stop.abort(error),
  );
  try {
    return (await firstAnswer({ port, host: 'localhost' }, isStart, stop.signal)).at - begun;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
