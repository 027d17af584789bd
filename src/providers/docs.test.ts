/** docs/providers.md says what the program does. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { OPERATIONS } from './contract.ts';
import { MISDEEDS } from './mock/rules.ts';
import { POSTGRES_PLANS } from './postgres/plans.ts';

const read = (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
const guide = await read('docs/providers.md');

it.each([...OPERATIONS, ...Object.keys(MISDEEDS), ...POSTGRES_PLANS.map(({ name }) => name)])(
  'the guide has `%s`',
  (word) => {
    expect(guide).toContain(`\`${word}\``);
  },
);

it.each(POSTGRES_PLANS)('the guide has the connections of $name', ({ name, connections }) => {
  expect(guide).toMatch(new RegExp(`\`${name}\` \\(${connections}[ )]`));
});

it('the guide has every option of a provider', async () => {
  const help = await read('test/golden/cli-help/tancho-provider-postgres.txt');
  const own = help.slice(0, help.indexOf('Global Options')).match(/--[a-z-]+/g) ?? [];
  expect(own.length).toBeGreaterThan(5);
  for (const option of own.filter((name) => name !== '--help')) expect(guide).toContain(`\`${option}\``);
});

it('the piece of the example in the guide is in the example', async () => {
  const piece = /```js\n([\s\S]*?)```/.exec(guide)?.[1] ?? '';
  const bare = (text: string): string => text.replace(/\s+/g, ' ').trim();
  expect(piece.length).toBeGreaterThan(100);
  expect(bare(await read('examples/provider/provider.js'))).toContain(bare(piece));
});
