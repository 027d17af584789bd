/**
 * Control groups of version 2, where this machine itself has version 1: the tests of sandboxes run in a kernel of their own (User Mode Linux), as root of
 * the same files, of which they can change none.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../test/support/skips.ts';
import { findProgram } from '../lib/find-program.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FILES = ['cgroups.test.ts', 'probe.test.ts', 'processor-shares.long.test.ts'];
const KERNEL = findProgram('linux.uml');
const BOOTED = 'another kernel';

function whyNot(): string {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers'))
    return 'this machine has version 2 itself, which all tests go by';
  return KERNEL === null ? 'there is no other kernel on this machine (package user-mode-linux)' : NOT_ROOT;
}
const MEMORY = '2048M';
const LONG_MS = 900_000;

/** First and only process: what it needs is on no disk, and it ends with the kernel. */
const INIT = `#!/bin/sh
echo '${BOOTED}'
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 groups /sys/fs/cgroup
mount -t tmpfs -o mode=1777 mine /mnt
mkdir -p /dev/shm /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t devpts pts /dev/pts
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt TMPDIR=/mnt CI=1 TANCHO_TEST_SLOW=1
cd '${ROOT}'
.runtime/node node_modules/vitest/vitest.mjs run --configLoader native --reporter=verbose ${FILES.map((file) => `src/sandbox/${file}`).join(' ')} 2>&1
code=$?
echo
echo "ended with $code"
echo o > /proc/sysrq-trigger
while :; do sleep 1; done
`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-kernel-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it(
  'limits of memory, processes and the processor hold by version 2 alone, at every level',
  { ...skipFor(whyNot()), timeout: LONG_MS },
  async (context) => {
    const init = join(directory, 'init');
    writeFileSync(init, INIT, { mode: 0o700 });
    const words = ['root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro', `init=${init}`, `mem=${MEMORY}`];
    const kernel = spawn(KERNEL ?? '', [...words, 'con=null', 'con0=fd:0,fd:1'], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: LONG_MS,
      killSignal: 'SIGKILL',
    });
    let printed = '';
    for (const stream of [kernel.stdout, kernel.stderr])
      stream.on('data', (bytes: Buffer) => (printed += bytes.toString()));
    await new Promise((resolved) => kernel.once('close', resolved));
    // It takes ptrace, which containers may not have.
    if (!printed.includes(BOOTED)) return context.skip(`the other kernel does not start here: ${printed.slice(-200)}`);
    expect(printed).toMatch(/^ended with 0\r?$/m);
    // A second probe finds the groups that an earlier one has made.
    for (const level of ['bubblewrap', 'user']) {
      expect(printed).toMatch(new RegExp(`✓.*level ${level}.*ends a process that uses too much memory`));
      expect(printed).toMatch(new RegExp(`✓.*level ${level}.*bounds the number of processes`));
    }
    expect(printed).toMatch(/✓.*one that weighs four times as much/);
    expect(printed).toMatch(/✓.*one that may use a tenth of a processor/);
  },
);
