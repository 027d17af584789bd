/** The floor of every start of an app: `node server.js` by itself, from spawning to its first answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { firstAnswer } from './first-answer.ts';
import { isStart } from './sample-apps.ts';

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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
