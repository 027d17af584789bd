import { afterEach, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../test/support/builder-world.ts';
import { FAKE } from '../../../../test/support/fake-language.ts';
import type { Tool } from '../../../build-plan/build-plan.ts';

const NONE = 'no-such-program';
const DOWNLOAD = { otherwise: '1', available: ['false'], install: ['false'], bin: 'bin' };
let world: BuilderWorld | null = null;
afterEach(async () => world?.dispose());

it.each<[string, Tool, boolean, string]>([
  ['is not installed', { program: NONE, install: {} }, false, ''],
  ['is fetched where it is not installed', { program: NONE, install: {}, download: DOWNLOAD }, true, 'fetched'],
  [
    'is fetched only in versions that are asked for',
    { program: NONE, install: {}, download: { ...DOWNLOAD, otherwise: null } },
    false,
    '',
  ],
  ['is there under the name of a version', { program: NONE, install: {}, others: ['cp'] }, true, `${NONE} v`],
])('a platform is ready as its builds are: with a tool that %s', async (_what, tool, ready, says) => {
  world = await builderWorld([{ ...FAKE, tools: [tool] }]);
  const [platform] = await world.builder.platforms();
  expect(platform).toMatchObject({ ready, missing: ready ? [] : [expect.stringContaining(NONE) as string] });
  expect(platform?.tools.join(' ')).toContain(says);
});
