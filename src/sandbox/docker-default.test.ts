/** What is open in a sandbox, beside what Docker opens by default: docs/isolation.md says it row by row, and here it is looked at. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { QUICK_NETWORK } from '../../test/support/slow.ts';
import { childEnd } from './child-end.ts';
import { probeSandbox } from './probe.ts';
import { REFUSED_CALLS, systemCalls } from './seccomp/system-calls.ts';

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

afterAll(async () => {
  if (typeof sandbox !== 'string') await sandbox.close();
  rmSync(home, { recursive: true, force: true });
});

const DEVICES = 'console core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero'.split(' ');
/** What it covers, by its default for `MaskedPaths`, and of what is below its read-only paths what may be read there. */
const MASKED = [
  ...[
    'acpi',
    'asound',
    'interrupts',
    'kcore',
    'keys',
    'latency_stats',
    'sched_debug',
    'scsi',
    'timer_list',
    'timer_stats',
  ].map((name) => `/proc/${name}`),
  ...['/sys/devices/virtual/powercap', '/sys/firmware'],
];
/** What processes may write to, and only within what is theirs by the rights of files. */
const WRITABLE = ['/', '/dev', '/dev/pts', '/dev/shm', '/proc', '/tmp'];
/** By its default profile (moby, profiles/seccomp/default.json) with the capabilities that it gives by default, of the calls that kernels for x64 and arm64 have. */
const CLOSED = `
_sysctl acct add_key afs_syscall bpf cachestat clock_settime create_module delete_module fanotify_init fchmodat2 finit_module
fsconfig fsmount fsopen fspick futex_requeue futex_wait futex_wake get_kernel_syms get_mempolicy getpmsg init_module ioperm
iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie map_shadow_stack mbind migrate_pages mount mount_setattr move_mount
move_pages mseal nfsservctl open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root process_madvise putpmsg
query_module quotactl quotactl_fd reboot request_key security set_mempolicy set_mempolicy_home_node setdomainname sethostname
setns settimeofday swapoff swapon sysfs syslog tuxcall umount2 unshare uselib userfaultfd ustat vhangup vserver
`;
const LOOK = `
grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr -d "\\t"
echo "devices $(ls /dev | tr "\\n" " ")"
echo "writable $(for d in / /usr /etc /proc/sys /sys /dev; do [ -w "$d" ] && printf "%s " "$d"; done)"
echo "etc $(ls /etc | grep -cE "^(shadow|machine-id|ssh)$")"
for f in ${MASKED.join(' ')}; do
  if [ -d "$f" ]; then [ -z "$(ls -A "$f" 2>/dev/null)" ] || echo "open $f"; else [ "$(head -c 1 "$f" 2>/dev/null | wc -c)" = 0 ] || echo "open $f"; fi
done
while read -r _ _ _ _ at how _; do case "$how" in rw*) echo "rw $at";; esac; done < /proc/self/mountinfo
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
  const written = lines.filter((line) => line.startsWith('rw ')).map((line) => line.slice(3));
  expect(written).toContain(code);
  expect(
    written.filter((at) => at !== code && !DEVICES.includes(at.slice('/dev/'.length)) && !WRITABLE.includes(at)),
  ).toEqual([]);
});

it('opens no system call that Docker closes, but for those that are said to be', () => {
  const page = readFileSync('docs/isolation.md', 'utf8');
  const [, newer = ''] = /newer than Docker's list in some of its versions: ([^;|]*);/.exec(page) ?? [];
  const said = [...newer.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name ?? '');
  const known = new Set((['x64', 'arm64'] as const).flatMap((processor) => [...systemCalls(processor).keys()]));
  const closed = CLOSED.trim().split(/\s+/);
  expect(closed.filter((name) => !known.has(name))).toEqual([]);
  expect(closed.filter((name) => !REFUSED_CALLS.has(name)).sort()).toEqual(said.sort());
});

it('is described as it is', () => {
  const page = readFileSync('docs/isolation.md', 'utf8');
  const [, described = ''] = /^Refused with EPERM are ([^.]+\.[^.]+)\./m.exec(page) ?? [];
  const named = [...described.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !REFUSED_CALLS.has(name))).toEqual([]);
});
