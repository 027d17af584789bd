/** What becomes of programs whose output nobody can take any more: a file on a full disk. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { builtProgram } from '../support/built.ts';
import { skipFor } from '../support/skips.ts';

/** Whatever is written there, the disk is full. */
const FULL = '/dev/full';
const skipped = skipFor(!existsSync(FULL) && 'there is no /dev/full');

let folder: string;
let program: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-full-'));
  program = path.join(await builtProgram(), 'main.js');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Exit code and standard error; that, or standard output, is on a full disk. */
async function ran(args: readonly string[], full: 'stdout' | 'stderr'): Promise<{ code: number | null; err: string }> {
  const file = await open(FULL, 'w');
  try {
    const child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env['PATH'], HOME: folder, TANCHO_HOME: path.join(folder, 'home') },
      stdio: ['ignore', full === 'stdout' ? file.fd : 'ignore', full === 'stderr' ? file.fd : 'pipe'],
    });
    let err = '';
    child.stderr?.on('data', (piece: Buffer) => (err += piece.toString()));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, err };
  } finally {
    await file.close();
  }
}

it('a command fails, and says why', skipped, async () => {
  const { code, err } = await ran(['--help'], 'stdout');
  expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^Error: .*ENOSPC.*\n$/) as string });
});

it.each([[['server', '--no-such-option']], [['edge', 'run', '--no-such-option']]])(
  '%j goes on to the end that it has without that',
  skipped,
  async (args) => {
    expect(await ran(args, 'stderr')).toMatchObject({ code: 2 });
  },
);
