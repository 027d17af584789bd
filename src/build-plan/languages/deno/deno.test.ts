import { expect, it } from 'vitest';
import { sourceOf } from '../../../../test/support/memory-source.ts';
import { AUTO_PLATFORM } from '../../../domain/platforms/platform.ts';
import { planSource } from '../../plan-source.ts';
import { LANGUAGES } from '../built-in.ts';

async function planned(files: Record<string, string>) {
  const { plan } = await planSource({
    app: 'shop',
    platform: AUTO_PLATFORM,
    languages: LANGUAGES,
    files: sourceOf(files),
  });
  return { platform: plan.platform, ...plan.processes['web'] };
}

async function stepsOf(files: Record<string, string>): Promise<string[]> {
  const { plan } = await planSource({ app: 'shop', platform: 'deno', languages: LANGUAGES, files: sourceOf(files) });
  return plan.steps.map(({ run }) => run.join(' '));
}

it.each<[string, string]>([
  ['src/index.ts', 'const port = Deno.env.get("PORT");\nfor await (const each of serve({ port })) {}\n'],
  ['main.ts', 'import { serve } from "https://deno.land/std@0.176.0/http/server.ts";\n'],
  ['server.ts', "import { Hono } from 'jsr:@hono/hono';\n"],
])('a program is known by what only Deno has: %s', async (program, text) => {
  expect(await planned({ [program]: text })).toEqual({
    platform: 'deno',
    command: `deno run -A ${program}`,
    from: program,
  });
});

it('a program of others is none of it, nor one with a list of packages', async () => {
  await expect(planned({ 'main.ts': 'console.log("Denote");\n' })).rejects.toMatchObject({ code: 'no_platform' });
  const { platform } = await planned({ 'main.ts': 'Deno.serve(x);\n', 'package.json': '{"scripts":{"start":"x"}}' });
  expect(platform).toBe('nodejs');
});

it.each<[Record<string, unknown>, string]>([
  [{ start: 'deno run -A main.ts' }, 'deno task start'],
  [{ start: { command: 'deno run -A main.ts' } }, 'deno task start'],
  [{ start: 'deno run -A --watch=static/ dev.ts', preview: 'deno run -A main.ts' }, 'deno task preview'],
  [{ start: { command: 'deno run --watch x.ts' } }, 'deno run -A main.ts'],
  [{ dev: 'deno run --watch main.ts' }, 'deno run -A main.ts'],
])('of the tasks %j what is for use is run', async (tasks, command) => {
  expect(await planned({ 'deno.json': JSON.stringify({ tasks }), 'main.ts': '' })).toMatchObject({ command });
});

it.each<[Record<string, string>, boolean]>([
  [{ 'deno.json': '{ "nodeModulesDir": "manual" }', 'deno.lock': '{}' }, true],
  [{ 'deno.json': '{ "nodeModulesDir": "auto" }', 'deno.lock': '{}' }, true],
  [{ 'deno.json': '{\n\t"nodeModulesDir": "auto", // for npm\n\t/* none */\n}', 'deno.lock': '{}' }, true],
  [{ 'deno.json': '{}', 'deno.lock': '{}', 'package.json': '{}' }, true],
  [{ 'deno.json': '{ "nodeModulesDir": "none" }', 'deno.lock': '{}', 'package.json': '{}' }, false],
  [{ 'deno.json': '{}', 'deno.lock': '{}' }, false],
  // Nothing is kept then, so they are made with the packages.
  [{ 'deno.json': '{ "nodeModulesDir": "manual" }' }, false],
])(
  'node_modules are made by every build that needs them, from the packages that are kept: %j',
  async (files, isMade) => {
    const all = { ...files, 'deno.json': files['deno.json']?.replace('{', '{ "tasks": { "build": "x" },') ?? '' };
    expect(await stepsOf({ ...all, 'main.ts': '' })).toEqual([
      ...(isMade ? ['deno install --frozen'] : []),
      'deno task build',
    ]);
  },
);
