import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

const NEXT = {
  scripts: { build: 'next build', start: 'next start' },
  dependencies: { next: '15.5.0' },
  devDependencies: { typescript: '5.8.2' },
};

async function isPruned(packageJson: object, files: Readonly<Record<string, string>>): Promise<boolean> {
  const source = sourceOf({ 'package.json': JSON.stringify(packageJson), ...files });
  const { plan } = await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files: source });
  return plan.steps.some(({ name }) => name === 'npm prune');
}

it('typescript stays where Next.js reads its settings with it at every start', async () => {
  expect(await isPruned(NEXT, { 'next.config.ts': 'export default {};' })).toBe(false);
  const npx = { ...NEXT, scripts: { build: 'next build', start: 'npx next start -H 0.0.0.0' } };
  expect(await isPruned(npx, { 'next.config.ts': '' })).toBe(false);
});

it.each<[string, object, Readonly<Record<string, string>>]>([
  ['settings in JavaScript', NEXT, { 'next.config.mjs': 'export default {};' }],
  ['the server that a build makes', NEXT, { 'next.config.ts': "export default { output: 'standalone' };" }],
  ['a server of its own', { ...NEXT, scripts: { ...NEXT.scripts, start: 'node server.js' } }, { 'next.config.ts': '' }],
])('it goes with %s', async (_what, packageJson, files) => {
  expect(await isPruned(packageJson, { 'server.js': '', ...files })).toBe(true);
});
