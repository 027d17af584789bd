/** The fuzz of the contract over the built program, with every call of git written down and a canary that no text may wake. */
import { access, chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fuzzChecks } from '../contract/fuzz.ts';
import { payloads } from '../contract/fuzz-payloads.ts';
import { type GitDeploys, openGitDeploys } from '../contract/git-deploys.ts';
import { type Target, targetAt } from '../contract/target.ts';
import { rounds } from '../support/rounds.ts';
import { startWorld, type World } from '../support/world.ts';

const folder = await mkdtemp(join(tmpdir(), 'tancho-fuzz-'));
const canary = join(folder, 'canary');
const callsOfGit = join(folder, 'git-calls');
let world: World | undefined;
let deploys: GitDeploys | undefined;
let target: Target | undefined;

beforeAll(async () => {
  const programs = join(folder, 'bin');
  await mkdir(programs);
  const path = process.env['PATH'] ?? '';
  // Each argument on its own, ended by NUL; each call ended by one more.
  const script = `#!/bin/sh\nprintf '%s\\0' "$@" '' >> '${callsOfGit}'\nPATH='${path}' exec git "$@"\n`;
  await writeFile(join(programs, 'git'), script);
  await chmod(join(programs, 'git'), 0o755);
  await chmod(folder, 0o777);
  const started = await startWorld({ env: { PATH: `${programs}:${path}` } });
  world = started;
  deploys = await openGitDeploys(started.apiUrl);
  const { apiUrl: baseUrl, adminEmail, adminPassword } = started;
  target = await targetAt({ baseUrl, adminEmail, adminPassword, deploy: deploys.deploy });
});

afterAll(async () => {
  await deploys?.dispose();
  await world?.dispose();
  await rm(folder, { recursive: true, force: true });
});

fuzzChecks(
  (): Target => {
    if (target === undefined) throw new Error('There is no server to ask.');
    return target;
  },
  {
    canary,
    except: { 'apps.run': "its text is a command for the shell of the app's own sandbox" },
    texts: rounds(3, 12),
  },
);

it('no text is run as a program', async () => {
  await expect(access(canary)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('git was called, and never with a text of ours as an option', async () => {
  const calls = (await readFile(callsOfGit, 'utf8')).split('\0\0').map((call) => call.split('\0'));
  expect(calls.length).toBeGreaterThan(3);
  const dashed = payloads(canary).filter((text) => text.startsWith('-') && !['-', '--', '-1', '--help'].includes(text));
  const options = calls.map((args) => args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)).flat();
  expect(options.filter((option) => dashed.some((text) => option.includes(text)))).toEqual([]);
});
