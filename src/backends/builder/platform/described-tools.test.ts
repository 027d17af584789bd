import { afterEach, expect, it } from 'vitest';
import { type BuilderWorld, builderWorld } from '../../../../test/support/builder-world.ts';
import { FAKE } from '../../../../test/support/fake-language.ts';
import { treeOf } from '../../../../test/support/source-trees.ts';
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

const NEW: Pick<Tool, 'minimum' | 'neededFor' | 'install'> = {
  minimum: '2.0.0',
  neededFor: { cause: 'invalid_config', message: 'app.txt line 1 is new.', hint: 'Write it otherwise.' },
  install: {},
};

async function buildWith(tool: Tool): Promise<unknown> {
  world = await builderWorld([{ ...FAKE, plan: async () => ({ title: 'fake', tools: [tool] }) }]);
  return world.build({ source: treeOf({ 'app.txt': '', Procfile: 'web: ./run\n' }) });
}

it('a tool that is older than something in the source takes is reported with that', async () => {
  await expect(buildWith({ program: 'sh', version: ['-c', 'echo 1.2.3'], ...NEW })).rejects.toMatchObject({
    code: 'invalid_config',
    message: expect.stringMatching(/^app.txt line 1 is new. \S+ is version 1.2.3, but 2.0.0 or newer/) as string,
    hint: 'Write it otherwise.',
  });
});

it.each<[string, Omit<Tool, 'install'>, RegExp]>([
  ['is not there', { program: NONE }, /no-such-program is not installed/],
  ['cannot be used', { program: 'sh', version: ['-c', 'exit 1'] }, /cannot be used/],
])('a tool that %s is reported as that, whatever in the source takes a newer one', async (_what, tool, message) => {
  await expect(buildWith({ ...tool, ...NEW })).rejects.toMatchObject({
    code: 'toolchain_missing',
    message: expect.stringMatching(message) as string,
    hint: 'Ask the operator to install it, then push again.',
  });
});
