/** Real programs under the platform's own filters. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../../test/support/skips.ts';
import { findProgram } from '../../lib/find-program.ts';
import { type Judge, seccompFilter } from './filter.ts';
import { ofControl, ofEdge } from './own-filters.ts';
import { systemCalls } from './system-calls.ts';
import { underFilter } from './under-filter.ts';

const perl = findProgram('perl');
const isAble = process.platform === 'linux' && perl !== null && seccompFilter(process.arch) !== null;
const LACKING = 'it takes Linux, perl and x64 or arm64';
/** Makes each call with arguments that do no harm, and prints its error number. */
const CALL =
  'for (@ARGV) { $! = 0; my $result = syscall($_ + 0, -1, 0, 0, 0, 0, 0); print $result == -1 ? $! + 0 : 0, "\\n" }';

function run(judge: Judge, gainsNothing: boolean, command: readonly string[]): string {
  const [program = '', ...words] = underFilter(seccompFilter(process.arch, judge), { gainsNothing }) ?? [];
  const { stdout, stderr } = spawnSync(program, [...words, ...command], { encoding: 'utf8', env: {} });
  expect(stderr).toBe('');
  return stdout;
}

const numbersOf = (names: readonly string[]): string[] => {
  const calls = systemCalls(process.arch === 'arm64' ? 'arm64' : 'x64');
  return names.map((name) => `${calls.get(name)}`);
};

describe('a program under a filter', skipFor(!isAble && LACKING), () => {
  it('is refused what the filter refuses, and nothing else', () => {
    const called = (judge: Judge, names: readonly string[]): string[] =>
      run(judge, true, [perl ?? '', '-e', CALL, '--', ...numbersOf(names)])
        .trim()
        .split('\n');
    expect(called(ofControl, ['keyctl', 'bpf', 'kexec_load', 'io_uring_setup', 'getpid'])).toEqual([
      '1',
      '1',
      '1',
      '1',
      '0',
    ]);
    // EBADF or EINVAL: the kernel has looked at what was asked for.
    expect(called(ofControl, ['setns'])).not.toEqual(['1']);
    expect(called(ofEdge({ mounts: false }), ['setns', 'ptrace', 'keyctl', 'socket', 'getpid'])).toEqual([
      '1',
      '1',
      '1',
      '1',
      '0',
    ]);
  });

  it('is the process that was started, with its words and without rights to be had', () => {
    const script =
      'process.stdout.write(JSON.stringify([process.ppid, process.argv.slice(1), require("fs").readFileSync("/proc/self/status", "utf8")]))';
    const out = run(ofEdge({ mounts: false }), true, [process.execPath, '-e', script, 'a', 'b c', '']);
    const [parent, words, status] = JSON.parse(out) as [number, string[], string];
    expect([parent, words]).toEqual([process.pid, ['a', 'b c', '']]);
    expect(/^NoNewPrivs:\t1$/m.test(status) && /^Seccomp:\t2$/m.test(status)).toBe(true);
  });

  it(
    'gains by programs that make themselves root what it gained before, where root starts it',
    skipFor(NOT_ROOT),
    () => {
      const status = run(ofControl, false, ['/bin/cat', '/proc/self/status']);
      expect(/^Seccomp:\t2$/m.test(status)).toBe(true);
      expect(/^NoNewPrivs:\t0$/m.test(status)).toBe(true);
    },
  );
});

it('is not had where there is no filter', () => {
  expect(underFilter(null, { gainsNothing: true })).toBeNull();
});
