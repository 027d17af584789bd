import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

it('builds, and no units, are asked to leave out what is for people who develop', async () => {
  const files = sourceOf({ 'package.json': '{"scripts":{"start":"node ."},"devDependencies":{"cypress":"13"}}' });
  const { plan } = await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files });
  for (const name of ['CYPRESS_INSTALL_BINARY', 'HUSKY']) {
    expect(plan.environment).toContainEqual({ name, value: '0', scope: 'build' });
  }
});

it('pnpm starts scripts of builds and units as the version it is, without installing anything before', async () => {
  const start = { scripts: { start: 'node .' }, dependencies: { express: '5' } };
  const files = sourceOf({ 'package.json': JSON.stringify(start), 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" });
  const { plan } = await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files });
  expect(plan.environment).toContainEqual({ name: 'pnpm_config_verify_deps_before_run', value: 'false' });
  expect(plan.environment).toContainEqual({ name: 'pnpm_config_pm_on_fail', value: 'ignore' });
  // What a build adds comes into the store of the installation.
  const store = { name: 'npm_config_store_dir', value: '{downloads}/pnpm', scope: 'build' };
  expect(plan.environment).toContainEqual(store);
});

it('npm runs the scripts of packages, unless the source says of which', async () => {
  const named = async (packageJson: object, files: Record<string, string> = {}): Promise<string[]> => {
    const source = sourceOf({ 'package.json': JSON.stringify(packageJson), 'server.js': '', ...files });
    const { plan } = await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files: source });
    return plan.environment.filter(({ since }) => since?.version === '12.0.0').map(({ name }) => name);
  };
  expect(await named({})).toEqual(['npm_config_dangerously_allow_all_scripts']);
  expect(await named({ allowScripts: { bcrypt: true } })).toEqual([]);
  expect(await named({}, { '.npmrc': 'strict-allow-scripts=true\n' })).toEqual([]);
});
