import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import type { BuildPlan } from '../../build-plan.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function plan(packageJson: Record<string, unknown>, files: Record<string, string> = {}): Promise<BuildPlan> {
  const source = sourceOf({ 'package.json': JSON.stringify(packageJson), ...files });
  return (await planSource({ app: 'shop', platform: 'nodejs', languages: LANGUAGES, files: source })).plan;
}

const toolsOf = ({ tools }: BuildPlan): Record<string, boolean> =>
  Object.fromEntries(tools.map(({ program, runtime = false }) => [program, runtime]));

describe('a tool that is called by name', () => {
  const start = { start: 'node server.js' };

  it.each<[string, Record<string, unknown>, Record<string, string>, Record<string, boolean>]>([
    ['a process', { scripts: start }, { Procfile: 'web: yarn start' }, { yarn: true }],
    ['a process behind assignments', { scripts: start }, { Procfile: 'web: A=1 exec pnpm start' }, { pnpm: true }],
    ['a script of the start', { scripts: { start: 'npm run serve', serve: 'bun run x.ts' } }, {}, { bun: true }],
    ['a script before it', { scripts: { prestart: 'deno task x', start: 'node x && node y' } }, {}, { deno: true }],
    ['the build', { scripts: { ...start, build: 'cd client && yarn && yarn build' } }, {}, { yarn: false }],
    ['a script of the build', { scripts: { ...start, build: 'npm run a', a: 'bunx x' } }, {}, { bun: false }],
    ['an installation', { scripts: { ...start, postinstall: 'pnpm -r build' } }, {}, { pnpm: false }],
    ['nothing that runs', { scripts: { ...start, dev: 'yarn start' } }, {}, {}],
    ['nothing: it is an argument', { scripts: { start: 'node server.js yarn' } }, {}, {}],
    ['a package of its own', { scripts: { start: 'bun x.ts' }, dependencies: { bun: '1' } }, {}, {}],
  ])('of %s is fetched', async (_what, packageJson, files, expected) => {
    const { node, npm, ...others } = toolsOf(await plan(packageJson, files));
    expect([node, npm, others]).toEqual([true, true, expected]);
  });

  it('is said, and with its lock file only stays for the units', async () => {
    const called = { Procfile: 'web: yarn start' };
    expect((await plan({ scripts: start }, called)).notes).toEqual(['yarn is fetched, too: "yarn start" calls it']);
    const locked = await plan({ scripts: start }, { ...called, 'yarn.lock': '# yarn lockfile v1\n' });
    expect([toolsOf(locked)['yarn'], locked.notes]).toEqual([true, []]);
    expect(toolsOf(await plan({ scripts: start }, { 'yarn.lock': '# yarn lockfile v1\n' }))['yarn']).toBe(false);
  });
});
