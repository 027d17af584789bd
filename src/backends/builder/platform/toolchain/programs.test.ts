import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlainSandbox } from '../../../../../test/support/plain-sandbox.ts';
import { until } from '../../../../../test/support/until.ts';
import { ProgramFinder } from './programs.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-programs-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('a program that answers too late is not missing, and is asked again the next time', async () => {
  const file = join(directory, 'slowpoke');
  const go = join(directory, 'go-on');
  writeFileSync(file, `#!/bin/sh\nwhile [ ! -e ${go} ]; do sleep 0.05; done\necho slowpoke 1.2.3\n`);
  chmodSync(file, 0o755);
  const programs = new ProgramFinder({
    sandbox: new PlainSandbox(),
    directory,
    execPath: process.execPath,
    environment: { PATH: directory },
    limits: { memoryBytes: 0, cpuMillis: 0, processes: 0 },
    probeMs: 1_000,
  });
  const tool = { program: 'slowpoke', install: { 'apt-get': 'apt-get install slowpoke' } };
  const late = await programs.find(tool);
  expect(late).toMatchObject({ found: false, isLate: true, missing: expect.stringContaining('too busy') as string });
  expect(late.found || late.missing).not.toContain('apt-get');
  writeFileSync(go, '');
  await until(async () => (await programs.find(tool)).found, { what: 'the program, once it answers' });
});
