import { expect, it, onTestFinished } from 'vitest';
import { builderWorld } from '../../../../../test/support/builder-world.ts';
import { FAKE } from '../../../../../test/support/fake-language.ts';
import { treeOf } from '../../../../../test/support/source-trees.ts';

it('what an app can do without warns where it fails, and nothing that builds on it is run', async () => {
  const world = await builderWorld([FAKE]);
  onTestFinished(() => world.dispose());
  const app = { 'app.txt': '', 'default.txt': '', 'front.txt': '', 'compile.txt': '' };
  await world.build({ source: treeOf(app) });
  const failed = expect.stringMatching(/^Warning: .* without its front end\. The step "front first" failed/) as string;
  expect(world.lines.slice(-4)).toEqual(['front first', expect.stringContaining('front/first.txt'), failed, 'compile']);

  await world.build({ source: treeOf({ ...app, 'front/kept.txt': '' }) });
  expect(world.lines.slice(-3)).toEqual(['front first', 'front second', 'compile']);

  const stopped = new AbortController();
  const build = world.build({ source: treeOf(app) }, stopped.signal);
  stopped.abort();
  await expect(build).rejects.toMatchObject({ code: 'cancelled' });
});
