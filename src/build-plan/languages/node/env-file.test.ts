import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';
import { nodejs } from './node.ts';

async function plan(scripts: object, files: Record<string, string> = {}): Promise<BuildPlan> {
  const all = { 'package.json': JSON.stringify({ scripts }), 'server.js': '', ...files };
  return (await planSource({ app: 'shop', platform: 'nodejs', languages: [nodejs], files: sourceOf(all) })).plan;
}

const START = 'node --env-file=.env --enable-source-maps server.js';

it('a program that is run as it is written does without a file of variables that is not in the source', async () => {
  const made = await plan({ start: START });
  expect(made.processes['web']?.command).toBe('node --enable-source-maps server.js');
  expect(made.notes).toContainEqual(expect.stringMatching(/^\.env is not in the source: .*tancho env set/));
  expect(made.problems).toEqual([]);
});

it('of several files of variables only those that are not there are left out', async () => {
  const start = 'node --env-file=.env.production --env-file=.env server.js';
  const made = await plan({ start }, { '.env.production': '' });
  expect(made.processes['web']?.command).toBe('node --env-file=.env.production server.js');
});

it('with a Dockerfile beside it a file of variables that is not there is said, too', async () => {
  const files = sourceOf({ 'package.json': '{}', Procfile: `web: ${START}\n`, Dockerfile: 'FROM node\nCMD node\n' });
  const made = (await planSource({ app: 'shop', platform: 'auto', languages: LANGUAGES, files })).plan;
  expect([made.platform, made.problems.map(({ cause }) => cause)]).toEqual(['nodejs', ['invalid_config']]);
});

it.each<[string, object, Record<string, string>]>([
  ['is committed', { start: START }, { '.env': '' }],
  ['is made by an install script', { start: START, postinstall: 'node ci/env.js' }, {}],
  ['is made by the build', { start: START, build: 'node ci/env.js' }, {}],
  ['is made before the start', { start: START.replace('node', 'node make.js && node') }, {}],
  ['is made by the script before', { start: START, prestart: 'node make.js' }, {}],
  ['is optional', { start: 'NODE_ENV=production node --env-file-if-exists=.env server.js' }, {}],
  [
    'is of a development script alone',
    { start: 'NODE_ENV=x node server.js', dev: 'node --env-file=.env server.js' },
    {},
  ],
  ['lies in another directory', { start: 'cd api && node --env-file=.env server.js' }, {}],
])('a file of variables that %s is left to the app', async (_what, scripts, files) => {
  const made = await plan(scripts, files);
  expect(made.problems).toEqual([]);
  const isPlain = 'start' in scripts && scripts.start === START && !('prestart' in scripts);
  expect(made.processes['web']?.command).toBe(isPlain ? START : 'npm start');
});

it('a file of variables in a directory may lie in a volume', async () => {
  const start = 'node --env-file=data/.env server.js';
  expect((await plan({ start })).processes['web']?.command).toBe(start);
  expect((await plan({}, { Procfile: `web: ${start}\n` })).problems).toEqual([]);
});

it.each<[string, object, Record<string, string>]>([
  ['npm', { start: 'NODE_ENV=x node --env-file=.env server.js' }, {}],
  [
    'a script that another one calls',
    { start: 'npm run serve -- --port 1', serve: 'tsx --env-file .env src/x.ts' },
    {},
  ],
  ['the Procfile', {}, { Procfile: 'web: node --env-file=.env server.js\n' }],
])('what %s starts with one that is not there is refused before anything is installed', async (_by, scripts, files) => {
  const [problem] = (await plan(scripts, files)).problems;
  expect(problem?.message).toMatch(/^The process web reads \.env /);
  expect(problem?.hint).toContain('--env-file-if-exists');
});
