/** Processes that are root among users of their own. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QUICK_NETWORK } from '../../test/support/slow.ts';
import { childEnd } from './child-end.ts';
import { hasUserRange, userMap } from './plan-many-users.ts';
import { probeSandbox } from './probe.ts';
import type { Sandbox } from './sandbox.ts';

const home = mkdtempSync(join(tmpdir(), 'tancho-users-'));
let sandbox: Sandbox;
beforeAll(async () => {
  chmodSync(home, 0o700);
  sandbox = await probeSandbox({
    stateDir: join(home, 'state'),
    home,
    level: 'auto',
    network: { mode: QUICK_NETWORK, allowed: [] },
  });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

async function run(command: string, directory: string): Promise<{ code: number | null; text: string }> {
  const id = `users-${process.pid}-${Math.random()}`;
  const started = await sandbox.spawn({
    ...{
      argv: ['/bin/sh', '-c', `exec 2>&1; ${command}`],
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      tenant: 'shop',
      id,
    },
    binds: [{ path: directory, writable: true, at: '/work' }],
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    stdio: ['ignore', 'pipe', 'ignore'],
    dieWithParent: true,
    manyUsers: true,
  });
  let text = '';
  started.child.stdout?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  const closed = new Promise((resolve) => started.child.once('close', resolve));
  try {
    const { code } = await childEnd(sandbox, started, id).ended;
    await closed;
    return { code, text: text.trim() };
  } finally {
    await sandbox.release(id);
  }
}

it('may become others, mount, and own files; to the machine its root is the tenant and nobody is root', async ({
  skip,
}) => {
  skip(!sandbox.manyUsers, sandbox.description);
  const directory = join(home, 'work');
  mkdirSync(directory, { mode: 0o700 });
  await sandbox.own(directory, 'shop');
  const layers = 'mkdir -p low up work both && mount -t overlay overlay -o lowerdir=low,upperdir=up,workdir=work both';
  const { code, text } = await run(
    `cd /work && touch mine his && chown 1000:1000 his && chmod 711 . && ${layers} && touch both/new && ls up && setpriv --reuid 1000 --regid 1000 --clear-groups id -u`,
    directory,
  );
  expect({ code, text }).toEqual({ code: 0, text: 'new\n1000' });
  const [mine, his] = ['mine', 'his'].map((name) => statSync(join(directory, name)).uid);
  expect(mine).toBe(statSync(directory).uid);
  expect(mine).not.toBe(0);
  expect(his).toBeGreaterThan(1_000_000_000);
});

it('reaches nothing of the machine that root could', async ({ skip }) => {
  skip(!sandbox.manyUsers, sandbox.description);
  const directory = join(home, 'other');
  mkdirSync(directory, { mode: 0o700 });
  await sandbox.own(directory, 'shop');
  const before = readFileSync('/proc/sys/kernel/hostname', 'utf8');
  const tries = [
    'mknod /work/disk b 254 0',
    'mount -t proc proc /work && echo 1 > /work/sys/kernel/sysrq',
    `cat ${join(home, 'state', 'tenants.json')}`,
    'cat /etc/shadow',
    'echo x > /etc/made',
  ];
  for (const attempt of tries) expect([attempt, (await run(attempt, directory)).code]).not.toEqual([attempt, 0]);
  await run('hostname changed', directory);
  expect(readFileSync('/proc/sys/kernel/hostname', 'utf8')).toBe(before);
});

it('needs a range of numbers that this process has', () => {
  expect(userMap(70_001)).toBe('0 70001 1\n1 1900000000 65535\n');
  expect(hasUserRange('         0          0 4294967295\n')).toBe(true);
  expect(hasUserRange('0 100000 65536\n')).toBe(false);
});
