/** What is open in a sandbox, beside what Docker opens by default: docs/isolation.md says it row by row, and here it is looked at. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { QUICK_NETWORK } from '../../test/support/slow.ts';
import { childEnd } from './child-end.ts';
import { probeSandbox } from './probe.ts';
import { REFUSED_CALLS } from './seccomp/system-calls.ts';

const home = mkdtempSync(join(tmpdir(), 'tancho-docker-'));
chmodSync(home, 0o711);
const code = join(home, 'code');
mkdirSync(code);
const sandbox = await probeSandbox({
  stateDir: join(home, 'state'),
  home,
  level: 'bubblewrap',
  network: { mode: QUICK_NETWORK, allowed: [] },
}).catch(String);
if (typeof sandbox === 'string') console.warn(`the sandbox is not compared: ${sandbox}`);

afterAll(async () => {
  if (typeof sandbox !== 'string') await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

const DEVICES = 'console core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero'.split(' ');
const LOOK = `
grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr -d "\\t"
echo "devices $(ls /dev | tr "\\n" " ")"
echo "writable $(for d in / /usr /etc /proc/sys /sys /dev; do [ -w "$d" ] && printf "%s " "$d"; done)"
echo "etc $(ls /etc | grep -cE "^(shadow|machine-id|ssh)$")"
for f in /proc/keys /proc/timer_list /proc/interrupts; do [ -z "$(cat "$f" 2>/dev/null)" ] || echo "open $f"; done
echo "sys $(ls /sys 2>/dev/null | wc -l)"
`;

it('has no right, no device and nothing writable that Docker does not give', async (test) => {
  if (typeof sandbox === 'string') return test.skip(sandbox);
  await sandbox.own(code, 'app');
  const id = `docker-${process.pid}`;
  const started = await sandbox.spawn({
    argv: ['/bin/sh', '-c', LOOK],
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
  await childEnd(sandbox, started, id).ended;
  await closed;
  await sandbox.release(id);
  const lines = text.trim().split('\n');
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
    // As root of the machine; others keep a bounding set that they cannot use any more.
    if (set === 'CapBnd' && process.getuid?.() !== 0) continue;
    expect(lines).toContain(`${set}:0000000000000000`);
  }
  expect(lines).toContain('NoNewPrivs:1');
  expect(lines).toContain('Seccomp:2');
  const devices =
    lines
      .find((line) => line.startsWith('devices'))
      ?.trim()
      .split(' ')
      .slice(1) ?? [];
  expect(devices.filter((name) => !DEVICES.includes(name))).toEqual([]);
  expect(devices).toContain('null');
  expect(lines.find((line) => line.startsWith('writable'))?.trim()).toBe('writable');
  expect(lines).toContain('etc 0');
  expect(lines).toContain('sys 0');
  expect(lines.filter((line) => line.startsWith('open'))).toEqual([]);
});

it('is described as it is', () => {
  const page = readFileSync('docs/isolation.md', 'utf8');
  const [, described = ''] = /^\| System calls +\|.*\|([^|]+)\|$/m.exec(page) ?? [];
  const named = [...described.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !REFUSED_CALLS.has(name))).toEqual([]);
});
