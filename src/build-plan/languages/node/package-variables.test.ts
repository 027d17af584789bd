import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

it('builds, and no units, are told to leave out what is for people who develop', async () => {
  const files = sourceOf({ 'package.json': '{"scripts":{"start":"node ."},"devDependencies":{"cypress":"13"}}' });
  const { plan } = await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files });
  for (const name of ['CYPRESS_INSTALL_BINARY', 'HUSKY']) {
    expect(plan.environment).toContainEqual({ name, value: '0', scope: 'build' });
  }
});
