import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { skipFor } from '../../../../../test/support/skips.ts';
import { findProgram } from '../../../../lib/find-program.ts';
import { probeSandbox } from '../../../../sandbox/probe.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { runStep } from './run-step.ts';

let home: string;
let sandbox: Sandbox;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'tancho-step-'));
  sandbox = await probeSandbox({ stateDir: join(home, 'sandbox'), home, level: 'plain' });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function outputOf(...argv: string[]): Promise<string[]> {
  const lines: string[] = [];
  const ended = await runStep(sandbox, {
    argv,
    cwd: home,
    env: { PATH: '/usr/bin:/bin' },
    tenant: 'shop',
    binds: [],
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    signal: new AbortController().signal,
    stdout: (text) => lines.push(text),
    stderr: (text) => lines.push(text),
  });
  expect(ended.code).toBe(0);
  return lines;
}

it(
  'comes after the apps with the processor',
  skipFor(findProgram('nice') === null && 'this system has no nice'),
  async () => {
    const [niceness] = await outputOf('nice');
    expect(Number(niceness)).toBeGreaterThanOrEqual(10);
  },
);

it(
  'comes after the apps with the disk',
  skipFor(findProgram('ionice') === null && 'this system has no ionice'),
  async () => {
    const lowest = execFileSync('ionice', ['-t', '-c', '2', '-n', '7', 'ionice'], { encoding: 'utf8' });
    expect(await outputOf('ionice')).toEqual([lowest.trimEnd()]);
  },
);
