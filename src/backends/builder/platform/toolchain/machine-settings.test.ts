import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MachineSettings } from './machine-settings.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'machine-settings-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const PLATFORM = {
  inherit: ['HTTPS_PROXY', 'NO_PROXY'],
  ask: [{ command: ['tool', 'get', 'registry'], into: { variable: 'REGISTRY' } }],
};

/** Runs `script` after noting that it was asked. */
async function writeTool(script: string): Promise<void> {
  const tool = join(directory, 'tool');
  await writeFile(tool, `#!/bin/sh\necho asked >> ${directory}/asked\n${script}\n`);
  await chmod(tool, 0o755);
}

const find = (program: string): string => join(directory, program);
const variables = async (settings: MachineSettings) => (await settings.of(PLATFORM, find)).variables;
const timesAsked = async (): Promise<number> =>
  (await readFile(join(directory, 'asked'), 'utf8')).split('\n').length - 1;

it('takes variables of the server without credentials, and asks a program once', async () => {
  await writeTool('echo https://registry.test/');
  const environment = { HTTPS_PROXY: 'http://me:secret@proxy.test', NO_PROXY: 'a.test', OTHER: 'x' };
  const settings = new MachineSettings(environment);
  const expected = { NO_PROXY: 'a.test', REGISTRY: 'https://registry.test/' };
  expect([await variables(settings), await variables(settings)]).toEqual([expected, expected]);
  expect(await timesAsked()).toBe(1);
});

it('takes no for an answer', async () => {
  await writeTool('exit 1');
  const settings = new MachineSettings({});
  expect([await variables(settings), await variables(settings)]).toEqual([{}, {}]);
  expect(await timesAsked()).toBe(1);
});

it('asks again what was missing, or did not answer in time', async () => {
  const settings = new MachineSettings({}, 1_000);
  const missing = await settings.of(PLATFORM, () => null);
  expect(missing.variables).toEqual({});
  await writeTool('exec sleep 5');
  expect(await variables(settings)).toEqual({});
  await writeTool('echo https://registry.test/');
  expect(await variables(settings)).toEqual({ REGISTRY: 'https://registry.test/' });
});
