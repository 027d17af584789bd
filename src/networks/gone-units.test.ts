/** What somebody meets who calls a unit that is not there any more. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { skipFor } from '../../test/support/skips.ts';
import { probeSandbox } from '../sandbox/probe.ts';

const CALLS = 100;

const home = mkdtempSync(join(tmpdir(), 'tancho-gone-units-'));
chmodSync(home, 0o711);
const sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

it(
  'everybody who calls is refused at once, however many they are',
  skipFor(!sandbox.networks && sandbox.description),
  async () => {
    const id = 'gone';
    const { rootPid, rootStart, address } = await sandbox.spawn({
      argv: ['/bin/sleep', '1000'],
      cwd: '/',
      env: {},
      tenant: 'shop',
      binds: [],
      limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
      stdio: ['ignore', 'inherit', 'inherit'],
      dieWithParent: true,
      id,
    });
    await sandbox.kill({ rootPid, rootStart, id }, 'SIGKILL');
    await sandbox.release(id);
    const answers = await Promise.all(Array.from({ length: CALLS }, () => called(address ?? '')));
    expect([...new Set(answers)]).toEqual(['ECONNREFUSED']);
  },
);

function called(host: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 80, timeout: 20_000 });
    const settle = (answer: string): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle('connected')).once('timeout', () => settle('silence'));
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) => settle(code));
  });
}
