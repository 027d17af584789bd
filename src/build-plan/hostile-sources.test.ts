/** What looks at a source does so in the process that serves everybody, so no file of a stranger's may hold it up. */
import { expect, it } from 'vitest';
import { sourceOf } from '../../test/support/memory-source.ts';
import { processorMs } from '../../test/support/processor-ms.ts';
import { LANGUAGES } from './languages/built-in.ts';
import { planSource } from './plan-source.ts';

/** Each of these took many seconds, some would never have ended. */
const MOST_MS = 4_000;

const keys = (bytes: number): string => Array.from({ length: bytes / 6 }, (_, at) => `k${at.toString(36)}:`).join('\n');
const toml = Array.from({ length: 1_000_000 }, (_, at) => `k${at} = 1`).join('\n');
const slashes = `${'/'.repeat(400_000)}x`;
const start = { scripts: { start: 'node server.js' } };
const json = (content: object): string => JSON.stringify({ ...start, ...content });
const doubled = Array.from({ length: 40 }, (_, at) => `ARG A${at + 1}=$A${at}$A${at}`).join('\n');

it.each<[string, Record<string, string>]>([
  [
    'a pattern of packages with many stars',
    { 'package.json': json({ workspaces: [`${'*a'.repeat(20)}*b`] }), [`${'a'.repeat(40)}/package.json`]: '{}' },
  ],
  ['a pattern of packages with slashes within', { 'package.json': json({ workspaces: [slashes] }) }],
  ['many keys in pnpm-workspace.yaml', { 'package.json': json({}), 'pnpm-workspace.yaml': keys(250_000) }],
  ['many keys in render.yaml', { 'package.json': json({}), 'render.yaml': keys(250_000) }],
  ['many keys in Pipfile', { Pipfile: toml }],
  ['members of a Rust workspace with slashes within', { 'Cargo.toml': `[workspace]\nmembers = ["${slashes}"]\n` }],
  [
    'a line of pnpm-lock.yaml with much white space',
    {
      'package.json': json({ dependencies: { a: '1' } }),
      'pnpm-lock.yaml': `importers:\n\n  .:\n        specifier: x${' '.repeat(400_000)}y\n`,
    },
  ],
  ['a Dockerfile with many mounts', { Dockerfile: `FROM a\nRUN ${'--mount='.repeat(200_000)} x\n` }],
  [
    'a Dockerfile with many stages',
    { Dockerfile: Array.from({ length: 100_000 }, (_, at) => `FROM a AS b${at}\n`).join('') },
  ],
  ['a Dockerfile whose arguments double each other', { Dockerfile: `ARG A0=0123456789\n${doubled}\nFROM a:$A40\n` }],
])('%s is planned in time', async (_what, files) => {
  const begun = processorMs();
  await planSource({ app: 'shop', platform: 'auto', languages: LANGUAGES, files: sourceOf(files) }).catch(
    (error: unknown) => expect(error).toMatchObject({ code: expect.any(String) as string }),
  );
  expect(processorMs() - begun).toBeLessThan(MOST_MS);
});
