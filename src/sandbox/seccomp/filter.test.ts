/** The filter, run by a machine of our own: what it says to every call. */
import { describe, expect, it } from 'vitest';
import type { BpfInstruction } from './bpf.ts';
import { ALLOWED, filterProgram, type Judge, REFUSED, seccompFilter, UNKNOWN } from './filter.ts';
import { ofControl, ofEdge } from './own-filters.ts';
import { type Processor, REFUSED_CALLS, systemCalls } from './system-calls.ts';

const KINDS = { x64: 0xc000003e, arm64: 0xc00000b7 };

interface Call {
  readonly number: number;
  readonly kind: number;
  readonly argument?: number;
  readonly second?: number;
}

/** As the kernel runs it; a jump out of the program throws. */
function verdict(program: readonly BpfInstruction[], { number, kind, argument = 0, second = 0 }: Call): number {
  let accumulator = 0;
  for (let at = 0, steps = 0; ; at += 1, steps += 1) {
    const step = program[at];
    if (step === undefined || steps > program.length) throw new Error(`instruction ${at} is none`);
    const { code, ifTrue, ifFalse, operand } = step;
    if (code === 0x06) return operand;
    if (code === 0x05) at += operand;
    else if (code === 0x20) accumulator = { 0: number, 4: kind, 16: argument, 24: second }[operand] ?? Number.NaN;
    else if (code === 0x15) at += accumulator === operand ? ifTrue : ifFalse;
    else if (code === 0x35) at += accumulator >= operand ? ifTrue : ifFalse;
    else if (code === 0x45) at += (accumulator & operand) !== 0 ? ifTrue : ifFalse;
    else throw new Error(`code ${code} is unknown`);
  }
}

describe.each(['x64', 'arm64'] as const)('the filter of %s', (processor: Processor) => {
  const program = filterProgram(processor);
  const calls = systemCalls(processor);
  const kind = KINDS[processor];
  const judged = (name: string, argument?: number): number =>
    verdict(program, { number: calls.get(name) ?? -1, kind, ...(argument !== undefined && { argument }) });

  it('allows every call that is not refused, and no other', () => {
    const byArgument = ['clone', 'clone3', 'ioctl', 'personality', 'socket', 'socketpair'];
    for (const name of calls.keys()) {
      if (byArgument.includes(name)) continue;
      expect([name, judged(name)]).toEqual([name, REFUSED_CALLS.has(name) ? REFUSED : ALLOWED]);
    }
    const known = new Set(calls.values());
    for (const number of [...Array(1_000).keys(), 0x4000_0000, 0x4000_0001, 0xffff_ffff]) {
      if (!known.has(number)) expect([number, verdict(program, { number, kind })]).toEqual([number, UNKNOWN]);
    }
  });

  it('refuses to take files out of the project whose quota they are in, and no other request to a device', () => {
    const ioctl = (second: number): number => verdict(program, { number: calls.get('ioctl') ?? -1, kind, second });
    // FS_IOC_SETFLAGS and FS_IOC_FSSETXATTR; TCGETS, FIONBIO, FS_IOC_GETFLAGS.
    expect([0x40086602, 0x401c5820].map(ioctl)).toEqual([REFUSED, REFUSED]);
    expect([0x5401, 0x5421, 0x80086601].map(ioctl)).toEqual([ALLOWED, ALLOWED, ALLOWED]);
  });

  it('refuses sockets but Unix, IPv4, IPv6 and netlink ones: others have the kernel load modules for strangers', () => {
    for (const call of ['socket', 'socketpair']) {
      expect([1, 2, 10, 16].map((family) => judged(call, family))).toEqual(Array(4).fill(ALLOWED));
      // Of packets, ciphers, and the host of a virtual machine; 21 and 30 are of clusters.
      expect([17, 21, 30, 38, 40].map((family) => judged(call, family))).toEqual(Array(5).fill(REFUSED));
    }
  });

  it('refuses namespaces, odd personalities, and calls of another kind of processor', () => {
    expect(judged('clone', 0x11)).toBe(ALLOWED);
    for (const flag of [0x1000_0000, 0x0002_0000, 0x4000_0000, 0x2000_0000])
      expect(judged('clone', flag)).toBe(REFUSED);
    expect(judged('clone3')).toBe(UNKNOWN);
    expect([judged('personality', 0xffff_ffff), judged('personality', 0x0040000)]).toEqual([ALLOWED, REFUSED]);
    const other = processor === 'x64' ? 0x40000003 : 0x40000028;
    expect(verdict(program, { number: calls.get('read') ?? -1, kind: other })).toBe(UNKNOWN);
  });
});

describe.each(['x64', 'arm64'] as const)('the filters of the platform itself on %s', (processor) => {
  const calls = systemCalls(processor);
  const kind = KINDS[processor];
  const ofKind = (judge: Judge): ((name: string, argument?: number) => number) => {
    const program = filterProgram(processor, judge);
    return (name, argument = 0) => verdict(program, { number: calls.get(name) ?? -1, kind, argument });
  };

  it('let control do what sandboxes are made with, refuse what the kernel is changed with, and take nothing from apps', () => {
    const control = ofKind(ofControl);
    for (const name of ['mount', 'umount2', 'setns', 'unshare', 'pivot_root', 'clone3', 'quotactl', 'ptrace', 'chroot'])
      expect([name, control(name, 0x1000_0000)]).toEqual([name, ALLOWED]);
    for (const name of [
      'bpf',
      'kexec_load',
      'finit_module',
      'keyctl',
      'reboot',
      'swapon',
      'perf_event_open',
      'clock_settime',
    ])
      expect([name, control(name)]).toEqual([name, REFUSED]);
    // Whatever apps start has both filters.
    for (const name of calls.keys()) if (control(name) !== ALLOWED) expect(REFUSED_CALLS.has(name), name).toBe(true);
    const program = filterProgram(processor, ofControl);
    expect(verdict(program, { number: 999, kind })).toBe(ALLOWED);
    for (const call of [
      { number: 0x4000_0001, kind },
      { number: 1, kind: 0x40000003 },
    ])
      expect(verdict(program, call)).toBe(UNKNOWN);
  });

  it('refuse the edge all that a sandbox is refused, other processes, and sockets but those of networks', () => {
    const edge = ofKind(ofEdge({ mounts: false }));
    for (const name of [...REFUSED_CALLS].filter((one) => calls.has(one)))
      expect([name, edge(name)]).toEqual([name, REFUSED]);
    for (const name of ['ptrace', 'process_vm_readv', 'mknodat', 'shmget'])
      expect([name, edge(name)]).toEqual([name, REFUSED]);
    for (const name of [
      'accept4',
      'sendmsg',
      'epoll_pwait',
      'execve',
      'setuid',
      'setgroups',
      'chown',
      'fchownat',
      'seccomp',
    ])
      if (calls.has(name)) expect([name, edge(name)]).toEqual([name, ALLOWED]);
    expect([1, 2, 10, 16].map((family) => edge('socket', family))).toEqual(Array(4).fill(ALLOWED));
    expect([17, 38, 40].map((family) => edge('socket', family))).toEqual(Array(3).fill(REFUSED));
    expect([edge('clone', 0x11), edge('clone', 0x1000_0000), edge('clone3')]).toEqual([ALLOWED, REFUSED, UNKNOWN]);
    const mounting = ofKind(ofEdge({ mounts: true }));
    expect(['mount', 'move_mount', 'unshare', 'setns'].map((name) => mounting(name))).toEqual([
      ALLOWED,
      ALLOWED,
      REFUSED,
      REFUSED,
    ]);
  });
});

it('has the numbers that kernels have', () => {
  const [x64, arm64] = [systemCalls('x64'), systemCalls('arm64')];
  expect(['read', 'openat', 'unshare', 'clone3'].map((name) => x64.get(name))).toEqual([0, 257, 272, 435]);
  expect(['read', 'openat', 'unshare', 'clone3', 'mmap'].map((name) => arm64.get(name))).toEqual([
    63, 56, 97, 435, 222,
  ]);
  expect([arm64.has('open'), x64.has('open')]).toEqual([false, true]);
  expect(new Set(x64.values()).size).toBe(x64.size);
  expect(new Set(arm64.values()).size).toBe(arm64.size);
});

it('is a whole number of instructions, fewer than the kernel takes, and none for other processors', () => {
  const bytes = seccompFilter('x64');
  expect((bytes?.length ?? 1) % 8).toBe(0);
  expect((bytes?.length ?? 0) / 8).toBeLessThan(4_096);
  expect(seccompFilter('riscv64')).toBeNull();
});
