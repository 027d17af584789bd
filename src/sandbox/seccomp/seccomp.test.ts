/** Real processes, in a real sandbox: what they are refused, and that they are not killed for it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { QUICK_NETWORK } from '../../../test/support/slow.ts';
import { findProgram } from '../../lib/find-program.ts';
import { probeSandbox } from '../probe.ts';
import type { Sandbox } from '../sandbox.ts';
import { childEnd } from '../child-end.ts';
import { systemCalls } from './system-calls.ts';

const python = findProgram('/usr/bin/python3');
const home = mkdtempSync(join(tmpdir(), 'tancho-seccomp-'));
chmodSync(home, 0o711);
const code = join(home, 'code');
mkdirSync(code);
const sandbox = await probeSandbox({
  stateDir: join(home, 'state'),
  home,
  level: 'bubblewrap',
  network: { mode: QUICK_NETWORK, allowed: [] },
}).catch(String);
const why = typeof sandbox === 'string' ? sandbox : python === null ? 'there is no python3' : null;

afterAll(async () => {
  if (typeof sandbox !== 'string') await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

/** Makes each call with arguments that are harmless in any case, and prints its error number. */
const CALL = `
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
for word in sys.argv[1:]:
    number, argument = (int(part) for part in word.split(':'))
    ctypes.set_errno(0)
    result = libc.syscall(number, argument, 0, 0, 0, 0, 0)
    print(ctypes.get_errno() if result == -1 else 0)
`;
const FLAGS = { unshare: 0x1000_0000, setns: 999_999, socket: 40 } as const;

async function errors(from: Sandbox, names: readonly string[]): Promise<number[]> {
  const calls = systemCalls(process.arch === 'arm64' ? 'arm64' : 'x64');
  const words = names.map((name) => `${calls.get(name)}:${(FLAGS as Record<string, number>)[name] ?? 0}`);
  await from.own(code, 'app');
  const id = `seccomp-${process.pid}`;
  const started = await from.spawn({
    argv: [python ?? '', '-c', CALL, ...words],
    cwd: code,
    env: { PATH: '/usr/bin:/bin' },
    tenant: 'app',
    binds: [{ path: code, writable: true }],
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    stdio: ['ignore', 'pipe', 'inherit'],
    dieWithParent: true,
    id,
  });
  let text = '';
  started.child.stdout?.on('data', (bytes: Buffer) => (text += bytes.toString()));
  const closed = new Promise((resolve) => started.child.once('close', resolve));
  const { ended } = childEnd(from, started, id);
  expect(await ended).toEqual({ code: 0, signal: null });
  await closed;
  await from.release(id);
  return text.trim().split('\n').map(Number);
}

it('fails with an error what the filter refuses, and lets the rest through', async (test) => {
  if (why !== null || typeof sandbox === 'string') return test.skip(why ?? '');
  const refused = ['unshare', 'setns', 'keyctl', 'add_key', 'bpf', 'perf_event_open', 'userfaultfd', 'io_uring_setup'];
  const more = ['mount', 'pivot_root', 'kexec_load', 'init_module', 'open_by_handle_at', 'socket'];
  expect(await errors(sandbox, [...refused, ...more])).toEqual([...refused, ...more].map(() => 1));
  expect(await errors(sandbox, ['clone3', 'getpid', 'getuid'])).toEqual([38, 0, 0]);
  // So it is the filter: to the same user outside of it user namespaces, keys and io_uring may well be open.
  const outside = spawnSync(python ?? '', ['-c', CALL, `${systemCalls('x64').get('keyctl')}:0`], { encoding: 'utf8' });
  expect(outside.status).toBe(0);
});
