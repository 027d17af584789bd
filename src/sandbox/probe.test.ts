import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';
import { QUICK_NETWORK, SLOW } from '../../test/support/slow.ts';
import { SILENT } from '../lib/logger.ts';
import { probeSandbox } from './probe.ts';
import type { Sandbox, SandboxLevel, SandboxProcess, SandboxRequest } from './sandbox.ts';
import { itLong } from '../../test/support/long-cases.ts';

const isRoot = process.getuid?.() === 0;
const NETWORK = { mode: QUICK_NETWORK, allowed: [] } as const;
const NO_LIMITS = { memoryBytes: 0, cpuMillis: 0, processes: 0 };

/** A home other users can enter, unlike a bare mkdtemp. */
function makeHome(mode = 0o711): string {
  const home = mkdtempSync(join(tmpdir(), 'tancho-sandbox-'));
  chmodSync(home, mode);
  return home;
}

async function available(level: SandboxLevel): Promise<string | null> {
  const home = makeHome();
  try {
    await (await probeSandbox({ stateDir: join(home, 'state'), home, level, network: NETWORK })).close();
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const levels: SandboxLevel[] = ['bubblewrap', 'user', 'plain'];
const missing = new Map(await Promise.all(levels.map(async (level) => [level, await available(level)] as const)));

/** The strongest of this machine, unless there is time. */
const tested = SLOW ? levels : levels.filter((level) => missing.get(level) === null).slice(0, 1);

for (const level of tested) {
  const why = missing.get(level) ?? null;
  if (why !== null) {
    it(`level ${level}`, ({ skip }) => skip(why));
    continue;
  }
  describe(`level ${level}`, () => {
    const home = makeHome();
    let sandbox: Sandbox;
    let count = 0;

    beforeAll(async () => {
      sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level, network: NETWORK });
    });
    afterAll(async () => {
      await sandbox.close();
      rmSync(home, { recursive: true, force: true });
    });

    async function directoryOf(tenant: string): Promise<string> {
      const path = join(home, `code-${tenant}`);
      if (!existsSync(path)) mkdirSync(path);
      await sandbox.own(path, tenant);
      return path;
    }

    async function start(
      command: string,
      changes: Partial<SandboxRequest> = {},
    ): Promise<SandboxProcess & { id: string }> {
      const cwd = await directoryOf(changes.tenant ?? 'a');
      const id = `test-${process.pid}-${level}-${(count += 1)}`;
      const started = await sandbox.spawn({
        argv: ['/bin/sh', '-c', command],
        cwd,
        env: { PATH: '/usr/bin:/bin' },
        tenant: 'a',
        binds: [{ path: cwd, writable: true }],
        limits: NO_LIMITS,
        stdio: ['ignore', 'pipe', 'pipe'],
        dieWithParent: true,
        id,
        ...changes,
      });
      return { ...started, id };
    }

    async function run(
      command: string,
      changes: Partial<SandboxRequest> = {},
    ): Promise<{ text: string; code: number | null }> {
      const started = await start(command, changes);
      let text = '';
      started.child.stdout?.on('data', (bytes: Buffer) => (text += bytes.toString()));
      started.child.stderr?.on('data', (bytes: Buffer) => (text += bytes.toString()));
      const code = await new Promise<number | null>((resolve) => started.child.once('close', resolve));
      await sandbox.release(started.id);
      return { text: text.trim(), code };
    }

    it(
      'lets a process of the platform go before its tenants, until it has ended',
      skipFor(level === 'plain' ? 'a plain process has no groups' : NOT_ROOT),
      async () => {
        const groupsOf = (pid: number): string => readFileSync(`/proc/${pid}/cgroup`, 'utf8');
        const child = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
        const ended = once(child, 'exit');
        try {
          sandbox.prefer('edge', child.pid ?? 0);
          const groups = [...groupsOf(child.pid ?? 0).matchAll(/^\d+:([^:]*):(.*\/tancho-first)\/[0-9a-f]{8}-edge$/gm)];
          if (!sandbox.limits.cpu) return expect(groups).toEqual([]);
          const weights = groups.map(([, controllers = '', path = '']) => {
            const file = controllers === '' ? 'cpu.weight' : 'cpu.shares';
            return readFileSync(join('/sys/fs/cgroup', controllers, path, file), 'utf8').trim();
          });
          // Four times what the kernel gives, in version 1 or 2.
          expect(['4096', '400']).toContain(weights.join());
        } finally {
          child.kill('SIGKILL');
          await ended;
          await sandbox.release('edge');
        }
      },
    );

    it('runs in the directory with exactly the given environment', async () => {
      const { text, code } = await run('pwd; echo "$GREETING"; echo hi > made; exit 3', {
        env: { GREETING: 'good day' },
      });
      expect({ text, code }).toEqual({ text: `${join(home, 'code-a')}\ngood day`, code: 3 });
      expect(existsSync(join(home, 'code-a', 'made'))).toBe(true);
      expect((await run('echo "[$HOME]"')).text).toBe('[]');
    });

    it('loads no code of the environment before the privileges are gone, and leaves it to the app', async () => {
      const { text } = await run('echo "$LD_LIBRARY_PATH"', { env: { LD_LIBRARY_PATH: '/nowhere' } });
      expect(text).toBe('/nowhere');
    });

    it('kills the whole tree, daemons that left their session included', async () => {
      const started = await start('setsid -f sleep 1000; sleep 1000 & echo up; wait');
      await new Promise((resolve) => started.child.stdout?.once('data', resolve));
      await expect
        .poll(async () => (await sandbox.pids(started)).length, { timeout: 60_000 })
        .toBeGreaterThanOrEqual(3);
      expect(await sandbox.alive(started)).toBe(true);
      const pids = await sandbox.pids(started);
      await sandbox.kill(started, 'SIGKILL');
      expect(await sandbox.alive(started)).toBe(false);
      expect(await sandbox.pids(started)).toEqual([]);
      for (const pid of pids) await expect.poll(() => existsSync(`/proc/${pid}/exe`)).toBe(false);
      await sandbox.release(started.id);
    });

    it('sends a gentle signal to the processes', async () => {
      const started = await start('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done');
      let text = '';
      started.child.stdout?.on('data', (bytes: Buffer) => (text += bytes.toString()));
      await expect.poll(() => text).toContain('up');
      const closed = new Promise((resolve) => started.child.once('close', resolve));
      await sandbox.kill(started, 'SIGTERM');
      await closed;
      expect(text).toContain('bye');
      await sandbox.release(started.id);
    });

    it('leaves no control group and no note behind', async () => {
      await run('true');
      expect(readdirSync(join(home, 'state', 'status'))).toEqual([]);
    });

    it('clears up after commands of a platform that was killed', async () => {
      const started = await start('sleep 1000');
      await (await probeSandbox({ stateDir: join(home, 'state'), home, level, network: NETWORK })).close();
      expect(await sandbox.alive(started)).toBe(true);
      writeFileSync(join(home, 'state', 'bound', started.id), '1 0');
      await (await probeSandbox({ stateDir: join(home, 'state'), home, level, network: NETWORK })).close();
      expect(await sandbox.alive(started)).toBe(false);
      expect(readdirSync(join(home, 'state', 'bound'))).toEqual([]);
      expect(readdirSync(join(home, 'state', 'status'))).toEqual([]);
    });

    itLong(
      'begins although something of a platform that was killed cannot be cleared away, and clears away the rest',
      async () => {
        const started = await start('sleep 1000');
        const bound = join(home, 'state', 'bound');
        writeFileSync(join(bound, started.id), '1 0');
        mkdirSync(join(bound, 'odd'));
        const warned: string[] = [];
        const logger = { ...SILENT, warn: (_: object, message: string) => void warned.push(message) };
        await (await probeSandbox({ stateDir: join(home, 'state'), home, level, network: NETWORK, logger })).close();
        expect(await sandbox.alive(started)).toBe(false);
        expect(readdirSync(bound)).toEqual(['odd']);
        expect(warned.join()).toContain('(odd)');
        rmSync(join(bound, 'odd'), { recursive: true });
      },
    );

    it('ends a process that uses too much memory, and says so', async ({ skip }) => {
      if (!sandbox.limits.memory) skip(`no memory limit: ${sandbox.description}`);
      // Waits for the end of a line that has none, and keeps what it has read.
      const grow = 'exec tail /dev/zero';
      const started = await start(grow, { limits: { ...NO_LIMITS, memoryBytes: 64 * 1024 * 1024 } });
      await new Promise((resolve) => started.child.once('close', resolve));
      expect(await sandbox.outOfMemory(started.id)).toBe(true);
      await sandbox.release(started.id);
      expect(await sandbox.outOfMemory(started.id)).toBe(false);
    });

    it('bounds the number of processes', async ({ skip }) => {
      if (!sandbox.limits.processes) skip(`no process limit: ${sandbox.description}`);
      const forks = 'sleep 0.1; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1 & done; echo all';
      const { text } = await run(forks, { limits: { ...NO_LIMITS, processes: 8 } });
      expect(text).not.toContain('all');
    });

    if (level !== 'plain') {
      it('gives up every privilege and separates tenants', async ({ skip }) => {
        skip(!isRoot, 'only root has privileges to give up');
        const secret = join(home, 'secret.key');
        writeFileSync(secret, 'canary', { mode: 0o600 });
        const other = await directoryOf('b');
        appendFileSync(join(other, 'private'), 'canary');
        chmodSync(join(other, 'private'), 0o600);
        const { text } = await run(
          `grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status; cat ${secret} ${other}/private; ls ${other}`,
        );
        expect(text).toMatch(/CapEff:\s+0000000000000000/);
        expect(text).toMatch(/CapBnd:\s+0000000000000000/);
        expect(text).toMatch(/NoNewPrivs:\s+1/);
        expect(text).not.toContain('canary');
        expect(text).not.toContain('private\n');
        const uids = [statSync(await directoryOf('a')).uid, statSync(other).uid];
        expect(new Set([...uids, 0]).size).toBe(3);
      });
    }

    if (level === 'bubblewrap') {
      it('hides the rest of the home and other processes, and has a private /tmp', async () => {
        const { text } = await run(
          `ls -A ${home}; ls -A ${home}/..; touch /tmp/x /dev/shm/x && echo writable; ls /proc | grep -c '^[0-9]'`,
        );
        const lines = text.split('\n');
        expect(lines[0]).toBe('code-a');
        // Node itself may lie beside it, as where a clone is below /tmp.
        const beside = lines.slice(1, lines.indexOf('writable'));
        const others = beside.filter((name) => !realpathSync(process.execPath).startsWith(`${dirname(home)}/${name}/`));
        expect(others).toEqual([basename(home)]);
        expect(lines).toContain('writable');
        expect(Number(lines.at(-1))).toBeLessThan(8);
        expect((await run('touch /usr/x || echo read-only')).text).toContain('read-only');
      });
    }

    if (level === 'bubblewrap') {
      it('keeps the exit code for those who did not see it', async () => {
        const started = await start('exit 7');
        await new Promise((resolve) => started.child.once('close', resolve));
        expect(await sandbox.exitCode(started.id)).toBe(7);
        await sandbox.release(started.id);
        expect(await sandbox.exitCode(started.id)).toBeNull();
      });
    }
  });
}

describe('probe', () => {
  itLong('notices that other users cannot enter the home', async ({ skip }) => {
    skip(!isRoot, 'only root may become other users');
    skip(missing.get('user') !== null, missing.get('user') ?? '');
    const home = makeHome(0o700);
    const options = { stateDir: join(home, 'state'), home, network: NETWORK };
    try {
      await expect(probeSandbox({ ...options, level: 'user' })).rejects.toThrow(/other users cannot enter/);
      const found = await probeSandbox({ ...options, level: 'auto' });
      expect(found.level).toBe(missing.get('bubblewrap') === null ? 'bubblewrap' : 'plain');
      await found.close();
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  itLong('starts although its note of control groups was cut short', async () => {
    const home = makeHome();
    mkdirSync(join(home, 'state'));
    writeFileSync(join(home, 'state', 'cgroups.json'), '[{"version');
    const sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto', network: NETWORK });
    expect(sandbox.description).not.toBe('');
    await sandbox.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('says in one line what is in force', async () => {
    const home = makeHome();
    const sandbox = await probeSandbox({ stateDir: join(home, 'state'), home, level: 'auto' });
    expect(sandbox.description).toMatch(new RegExp(`^${sandbox.level}: `));
    expect(sandbox.description).not.toContain('\n');
    expect(readdirSync(home)).toEqual(['state']);
    await sandbox.close();
    rmSync(home, { recursive: true, force: true });
  });
});

itLong('what another process has found is taken without a trial, until the machine is started again', async () => {
  const home = makeHome();
  const stateDir = join(home, 'state');
  const note = join(stateDir, 'found.json');
  try {
    const first = await probeSandbox({ stateDir, home, level: 'auto' });
    const found = JSON.parse(readFileSync(note, 'utf8')) as { boot: string };
    expect(found).toMatchObject({ level: first.level, hasNetworks: first.networks });
    await first.close();
    // No trial would find it so.
    writeFileSync(note, JSON.stringify({ ...found, level: 'plain' }));
    const second = await probeSandbox({ stateDir, home, level: 'auto', asBefore: true });
    expect(second.level).toBe('plain');
    await second.close();
    writeFileSync(note, JSON.stringify({ ...found, level: 'plain', boot: 'an earlier one' }));
    const third = await probeSandbox({ stateDir, home, level: 'auto', asBefore: true });
    expect(third.level).toBe(first.level);
    await third.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
