/** What the kernel makes of the shares that groups have of the processor: seen by what each got, at whichever version of control groups this machine has. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { probeSandbox } from './probe.ts';
import type { Sandbox, SandboxProcess, SandboxRequest } from './sandbox.ts';

const FREE = { memoryBytes: 0, cpuMillis: 0, processes: 0 };
/** Together, before they are compared. */
const ENOUGH_MS = 1_000;

const home = mkdtempSync(join(tmpdir(), 'tancho-shares-'));
let sandbox: Sandbox;
beforeAll(async () => {
  chmodSync(home, 0o711);
  sandbox = await probeSandbox({
    stateDir: join(home, 'state'),
    home,
    level: 'auto',
    network: { mode: 'shared', allowed: [] },
  });
});
afterAll(async () => {
  await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

type Spinner = SandboxProcess & { readonly id: string };

/** All on one processor, so that it is short. */
async function spin(name: string, limits: Partial<SandboxRequest['limits']>): Promise<Spinner> {
  const [, processor = '0'] = /^Cpus_allowed_list:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  const cwd = join(home, name);
  mkdirSync(cwd);
  await sandbox.own(cwd, name);
  const id = `shares-${process.pid}-${name}`;
  const started = await sandbox.spawn({
    argv: ['/usr/bin/taskset', '-c', processor, '/bin/sh', '-c', 'while :; do :; done'],
    cwd,
    env: { PATH: '/usr/bin:/bin' },
    tenant: name,
    binds: [{ path: cwd, writable: true }],
    limits: { ...FREE, ...limits },
    stdio: ['ignore', 'ignore', 'ignore'],
    dieWithParent: true,
    id,
  });
  return { ...started, id };
}

async function end(one: Spinner): Promise<void> {
  await sandbox.kill(one, 'SIGKILL');
  await sandbox.release(one.id);
  await sandbox.forget(one.id.slice(one.id.lastIndexOf('-') + 1));
}

it('one that weighs four times as much gets more of it', async ({ skip }) => {
  if (!sandbox.limits.cpu) return skip(`no share of the processor: ${sandbox.description}`);
  const light = await spin('light', { cpuShare: 25 });
  const heavy = await spin('heavy', { cpuShare: 100 });
  try {
    const used = async (): Promise<[number, number]> => {
      const usage = await sandbox.usage([light, heavy]);
      return [usage.get(light.id)?.cpuMs ?? 0, usage.get(heavy.id)?.cpuMs ?? 0];
    };
    // What the first had before the second was there counts for neither.
    await until(async () => (await used())[1] > 0, { what: 'both to run' });
    const [lightBefore, heavyBefore] = await used();
    let seen = '';
    const isWeighed = async (): Promise<boolean> => {
      const [lightNow, heavyNow] = await used();
      const [byLight, byHeavy] = [lightNow - lightBefore, heavyNow - heavyBefore];
      seen = `${byHeavy} and ${byLight} ms`;
      return byLight + byHeavy > ENOUGH_MS && byHeavy > 1.5 * byLight;
    };
    await until(isWeighed, { what: 'it to have had more', detail: () => seen });
  } finally {
    await end(light);
    await end(heavy);
  }
});

it('one that may use a tenth of a processor is held back', async ({ skip }) => {
  if (!sandbox.limits.cpu) return skip(`no bound of the processor: ${sandbox.description}`);
  const bound = await spin('bound', { cpuMillis: 100 });
  try {
    const pid = (await sandbox.pids(bound))[0] ?? 0;
    const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
    const [, controllers = '', path = ''] = /^\d+:(|(?:[^:]*,)?cpu(?:,[^:]*)?):(\/.*shares.*)$/m.exec(groups) ?? [];
    const statistics = join('/sys/fs/cgroup', controllers, path, 'cpu.stat');
    await until(() => /^nr_throttled [1-9]/m.test(readFileSync(statistics, 'utf8')), { what: 'it to be held back' });
  } finally {
    await end(bound);
  }
});
