import { expect, it } from 'vitest';
import { LANGUAGES } from '../../src/build-plan/languages/built-in.ts';
import { planSource } from '../../src/build-plan/plan-source.ts';
import { sourceOf } from '../support/memory-source.ts';
import { crystal } from './crystal.ts';

async function plan(files: Record<string, string>) {
  const languages = [...LANGUAGES, crystal];
  return (await planSource({ app: 'shop', platform: 'auto', languages, files: sourceOf(files) })).plan;
}

it('a source with a shard.yml is found among all languages and built by shards', async () => {
  const { platform, dependencies, steps, processes, problems } = await plan({
    'shard.yml': 'name: shop',
    'shard.lock': '',
  });
  expect({ platform, problems }).toEqual({ platform: 'crystal', problems: [] });
  expect(dependencies.flatMap((set) => set.steps).map(({ run }) => run)).toEqual([['shards', 'install', '--frozen']]);
  expect(steps.map(({ run }) => run)).toEqual([['shards', 'build', '--release']]);
  expect(processes).toEqual({ web: { command: 'bin/shop', from: 'the name of the app' } });
});

it('without a lock file it warns; what the app starts itself comes first', async () => {
  const { warnings, processes } = await plan({ 'shard.yml': 'name: shop', Procfile: 'web: bin/other' });
  expect(warnings).toHaveLength(1);
  expect(processes['web']).toEqual({ command: 'bin/other', from: 'Procfile' });
});
