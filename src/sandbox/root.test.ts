/** Processes with a root file system of their own, which its owner may have filled with whatever they like. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QUICK_NETWORK } from '../../test/support/slow.ts';
import { probeSandbox } from './probe.ts';
import type { Sandbox, SandboxRequest } from './sandbox.ts';

/** Root file systems without programs of their own: those of the machine are put into them. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64'].filter((path) => existsSync(path));

const home = mkdtempSync(join(tmpdir(), 'tancho-root-'));
let sandbox: Sandbox;
let count = 0;

beforeAll(async () => {
  // As below a home of root, which nobody else may enter.
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

async function run(prepare: (root: string) => void, command: string, changes: Partial<SandboxRequest> = {}) {
  const id = `root-${process.pid}-${(count += 1)}`;
  const directory = join(home, id);
  mkdirSync(directory);
  const binds = SYSTEM.flatMap((path) => {
    const isLink = readlinkOf(path);
    if (isLink !== null) symlinkSync(isLink, join(directory, path));
    return isLink === null ? [{ path, writable: false }] : [];
  });
  prepare(directory);
  await sandbox.own(directory, 'shop');
  const started = await sandbox.spawn({
    argv: ['/bin/sh', '-c', command],
    cwd: '/',
    root: { directory, uid: 4711, gid: 4712 },
    env: { PATH: '/usr/bin:/bin' },
    tenant: 'shop',
    binds,
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    stdio: ['ignore', 'pipe', 'pipe'],
    dieWithParent: true,
    id,
    ...changes,
  });
  let text = '';
  for (const stream of [started.child.stdout, started.child.stderr]) {
    stream?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  }
  const code = await new Promise<number | null>((resolve) => started.child.once('close', resolve));
  await sandbox.release(id);
  return { code, text: text.trim(), directory };
}

function readlinkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

const needs = (skip: (why: string) => void): void => {
  if (!sandbox.roots) skip(`no root file systems: ${sandbox.description}`);
};

it('sees its root and nothing else, as the user that was asked for, without any privilege', async ({ skip }) => {
  needs(skip);
  const { text, directory } = await run(
    (root) => mkdirSync(join(root, 'in')),
    'id -u; id -g; ls -d /home /root /etc 2>/dev/null; grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status; echo x > /in/made; echo x > /made',
  );
  const [uid, gid, ...rest] = text.split('\n').map((line) => line.replace(/\s+/, ' '));
  expect([uid, gid]).toEqual(['4711', '4712']);
  const nothing = [
    expect.stringContaining('/made: Read-only'),
    'CapBnd: 0000000000000000',
    'CapEff: 0000000000000000',
    'NoNewPrivs: 1',
  ];
  expect(rest.sort()).toEqual(nothing);
  expect(statSync(join(directory, 'in/made')).uid).toBe(statSync(directory).uid);
  expect(statSync(directory).uid).not.toBe(4711);
});

it('has what is put into it where it is put, and variables of the loader for itself', async ({ skip }) => {
  needs(skip);
  const own = join(home, 'own');
  mkdirSync(own);
  await sandbox.own(own, 'shop');
  const system = SYSTEM.filter((path) => readlinkOf(path) === null).map((path) => ({ path, writable: false }));
  const { text } = await run(() => {}, 'echo hi > /tmp/note; echo "$LD_LIBRARY_PATH"; cat /tmp/note', {
    binds: [...system, { path: own, writable: true, at: '/tmp' }],
    env: { PATH: '/usr/bin:/bin', LD_LIBRARY_PATH: '/nowhere' },
  });
  expect(text).toBe('/nowhere\nhi');
  expect(readdirSync(own)).toEqual(['note']);
});

it('gains nothing by links in the place of what is to be mounted', async ({ skip }) => {
  needs(skip);
  const target = join(home, 'target');
  mkdirSync(target, { mode: 0o755 });
  for (const name of ['proc', 'dev', 'tmp']) {
    for (const to of [`/oldroot${target}/new`, `/newroot/../oldroot${target}/new`, `../target/new`]) {
      const own = mkdtempSync(join(home, 'own-'));
      await sandbox.own(own, 'shop');
      await run((root) => symlinkSync(to, join(root, name)), 'true', {
        binds: [{ path: own, writable: true, at: '/tmp' }],
      }).catch(() => undefined);
    }
  }
  expect(readdirSync(target)).toEqual([]);
});

it('is refused at a level that cannot do it', async () => {
  const plain = await probeSandbox({ stateDir: join(home, 'plain'), home, level: 'plain' });
  expect(plain.roots).toBe(false);
  const request = {
    argv: ['/bin/true'],
    cwd: '/',
    root: { directory: home, uid: 1000, gid: 1000 },
    env: {},
    tenant: 'shop',
    binds: [],
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    stdio: 'ignore' as const,
    dieWithParent: true,
    id: 'refused',
  };
  await expect(plain.spawn(request)).rejects.toThrow('no root file systems');
});
