import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { launchBubblewrap } from './launch.ts';
import type { Descriptors } from './plan.ts';

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'tancho-launch-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

async function endedPid(): Promise<number> {
  const child = spawn('/bin/true');
  await once(child, 'exit');
  return child.pid ?? 0;
}

/** By `sh -c script` in the place of bubblewrap; `users`: as in /proc/<pid>/uid_map. */
function launch(users: string | null, script: (fds: Descriptors) => string): ReturnType<typeof launchBubblewrap> {
  return launchBubblewrap({
    request: {
      ...{ argv: ['/bin/true'], cwd: '/', env: {}, tenant: 'shop', id: 'shop-1', binds: [] },
      ...{
        limits: { memoryBytes: 1, cpuMillis: 1, processes: 1 },
        stdio: ['ignore', 'ignore', 'pipe'],
        dieWithParent: true,
      },
    },
    statusFile: path.join(folder, 'status'),
    ...{ cgroups: null, before: null, users, filterFile: null, accounts: null },
    plan: (fds) => ({ file: '/bin/sh', args: ['-c', script(fds)], env: {} }),
  });
}

it('a sandbox that ends before its users are mapped says why itself', async () => {
  const pid = await endedPid();
  const launched = launch(
    '0 1000 1',
    ({ info }) => `echo '{"child-pid": ${pid}}' >&${info}; echo 'cannot mount proc' >&2; exit 3`,
  );
  await expect(launched).rejects.toThrow('Bubblewrap ended before the process began: cannot mount proc');
});

it('leaves the error output of what it has started to whoever reads it', async () => {
  const { child } = await launch(
    null,
    ({ info, block }) =>
      `echo "{\\"child-pid\\": $$}" >&${info}; exec ${info}>&-; read go <&${block}; echo 'has begun' >&2`,
  );
  let errors = '';
  child.stderr?.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  await once(child, 'close');
  expect(errors).toBe('has begun\n');
});
