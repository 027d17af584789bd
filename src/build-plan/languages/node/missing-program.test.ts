import { expect, it } from 'vitest';
import { LANGUAGES } from '../built-in.ts';
import { planSource } from '../../plan-source.ts';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { json } from '../../../../test/corpus/corpus-app.ts';

async function problemsOf(packageJson: object, files: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const source = sourceOf({ 'package.json': json(packageJson), ...files });
  const { plan } = await planSource({ app: 'shop', platform: 'auto', languages: LANGUAGES, files: source });
  return plan.problems.map(({ message }) => message);
}

const START = { scripts: { start: 'node dist/index.js' } };

it.each<[string, object, Readonly<Record<string, string>>]>([
  ['its start script', START, { 'src/index.ts': '' }],
  ['the Procfile', {}, { Procfile: 'web: node dist/index.js\n' }],
])('what %s runs and nothing makes is reported before anything is installed', async (_, packageJson, files) => {
  expect(await problemsOf(packageJson, files)).toEqual([
    expect.stringMatching(
      /^The process web runs dist\/index\.js \(.*\), which is not in the source, and no script builds it\.$/,
    ),
  ]);
});

it.each<[string, object, Readonly<Record<string, string>>]>([
  ['it is there', START, { 'dist/index.js': '' }],
  ['it is there under a name that Node completes', { scripts: { start: 'node dist' } }, { 'dist/index.js': '' }],
  ['a build script makes it', { scripts: { ...START.scripts, build: 'tsc' } }, {}],
  ['an installation may make it', { scripts: { ...START.scripts, postinstall: 'tsc' } }, {}],
  ['a hook makes it', START, { 'tancho.yaml': 'hooks: { build: [tsc] }\n' }],
  ['a script before it makes it', { scripts: { ...START.scripts, prestart: 'tsc' } }, {}],
  ['it is no file alone', { scripts: { start: 'node -r ./x dist/index.js' } }, {}],
])('nothing is wrong where %s', async (_, packageJson, files) => {
  expect(await problemsOf(packageJson, files)).toEqual([]);
});
