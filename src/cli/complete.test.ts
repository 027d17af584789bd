import type { Command } from 'commander';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { json, type Reply, startPlatform } from '../../test/support/scripted-platform.ts';
import { valueName } from './complete.ts';
import { LIVE_NAMES } from './live-names.ts';
import { COMMANDS, createProgram } from './program.ts';

/** Arguments and values that no platform knows: they are new, numbers, files, addresses or free text. */
const FREE = [
  'header',
  'directory',
  'user',
  'path',
  'name',
  'url',
  'count',
  'seconds',
  'text',
  'time',
  'cursor',
  'who',
  'file',
  'paths',
  'token',
  'command',
  'number',
  'limit',
  'key=value',
  'name=value',
  'name=variable',
  'process=command',
  'process=count',
  'yes|no',
  'manifest',
  'tag',
  'size',
  'millis',
];

const units = [
  { ID: 'u1', Name: 'shop/0', AppName: 'shop', ProcessName: 'web', State: 'started', Status: 'started' },
  { ID: 'u2', Name: 'shop/1', AppName: 'shop', ProcessName: 'clock', State: 'started', Status: 'started' },
];
const REPLIES: Readonly<Record<string, Reply>> = {
  'GET /apps': json([{ Name: 'shop' }, { Name: 'shelf' }, { Name: 'desk' }]),
  'GET /apps/shop': json({ Name: 'shop', Units: units, cname: ['www.example.com'] }),
  'GET /apps/shop/env': json([{ name: 'GREETING', value: '', public: true }]),
  'GET /teams': json([{ name: 'red' }, { name: '$(id)' }]),
  'GET /services/instances': json([{ service: 'mysql', instances: ['db', 'mail'] }]),
  'GET /services/mysql/plans': json([{ Name: 'small' }]),
  'GET /platforms': json([{ Name: 'nodejs' }]),
};

let world: CliWorld;
const closers: (() => Promise<void>)[] = [];
beforeEach(() => {
  world = new CliWorld();
});
afterEach(async () => {
  world.dispose();
  for (const close of closers.splice(0)) await close();
});

async function asking(): Promise<{ names: (...words: string[]) => Promise<string[]>; asked: () => number }> {
  const platform = await startPlatform(REPLIES);
  closers.push(platform.close);
  const env = { TANCHO_TARGET: platform.url, TANCHO_TOKEN: 'secret' };
  return {
    async names(...words) {
      const { code, out, err } = await world.run(['__complete', ...words], { env });
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return out.split('\n').filter(Boolean);
    },
    asked: () => platform.asked.length,
  };
}

describe('completion asks the platform', () => {
  it('for the names that may stand where the cursor is', async () => {
    const { names } = await asking();
    expect(await names('app', 'info', '')).toEqual(['shop', 'shelf', 'desk']);
    expect(await names('app', 'info', 'sh')).toEqual(['shop', 'shelf']);
    expect(await names('app', 'swap', 'shop', 'd')).toEqual(['desk']);
    expect(await names('app', 'create', 'new', '')).toEqual(['nodejs']);
    expect(await names('app', 'log', '--app', 'de')).toEqual(['desk']);
    expect(await names('app', 'log', '-a', 'shop', '--unit', '')).toEqual(['shop/0', 'shop/1']);
    expect(await names('app', 'restart', 'shop', '-p', '')).toEqual(['web', 'clock']);
    expect(await names('env', 'unset', '-a', 'shop', '')).toEqual(['GREETING']);
    expect(await names('env', 'set', '-a', 'shop', 'G')).toEqual(['GREETING=']);
    expect(await names('cname', 'remove', '--app', 'shop', '')).toEqual(['www.example.com']);
    expect(await names('instance', 'bind', 'm')).toEqual(['mail']);
    expect(await names('instance', 'create', 'mysql', 'new', '--plan', '')).toEqual(['small']);
    expect(await names('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it('for nothing where a new name or free text stands', async () => {
    const { names, asked } = await asking();
    expect(await names('app', 'create', '')).toEqual([]);
    expect(await names('team', 'nothing', '')).toEqual([]);
    expect(await names('app', 'info', 'shop', '')).toEqual([]);
    expect(await names()).toEqual([]);
    expect(asked()).toBe(0);
  });

  it('and offers no name that a shell would take for more than a word', async () => {
    const { names } = await asking();
    expect(await names('team', 'info', '')).toEqual(['red']);
  });

  it('once within a few seconds', async () => {
    const { names, asked } = await asking();
    await names('app', 'info', '');
    await names('app', 'remove', 's');
    expect(asked()).toBe(1);
  });

  it('and keeps a bounded number of answers', async () => {
    const { names } = await asking();
    const folder = join(world.userHome, '.cache', 'tancho');
    mkdirSync(folder, { recursive: true });
    for (let n = 0; n < 100; n += 1) {
      const file = join(folder, `names-${n}.json`);
      writeFileSync(file, '[]');
      if (n > 0) utimesSync(file, 1, 1);
    }
    expect(await names('app', 'info', 'd')).toEqual(['desk']);
    const kept = readdirSync(folder);
    expect(kept).toHaveLength(2);
    expect(kept).toContain('names-0.json');
  });

  it('and offers names also where none can be kept', async () => {
    const { names } = await asking();
    writeFileSync(join(world.userHome, '.cache'), '');
    expect(await names('app', 'info', 'd')).toEqual(['desk']);
  });

  it('and is silent when there is none', async () => {
    const env = { TANCHO_TARGET: 'http://127.0.0.1:9' };
    expect(await world.run(['__complete', 'app', 'info', ''], { env })).toEqual({ code: 0, out: '', err: '' });
    expect(await world.run(['__complete', 'app', 'info', ''])).toEqual({ code: 0, out: '', err: '' });
  });
});

/** Of providers, which have no platform to ask. */
const OF_PROVIDERS = ['host:port', 'host[:port', 'password', 'rule'];

/** Of a cluster and registries that no platform knows yet. */
const OF_INSTALL = [
  'line',
  'where',
  'network',
  'place',
  'platform=image',
  'type',
  'VARIABLE=value',
  'image',
  'user:password',
];

it('every argument and value of the command line is a live name or free text', async () => {
  const { root } = await createProgram(world.context(), new Set(Object.keys(COMMANDS)));
  const unknown: string[] = [];
  const walk = (command: Command, path: readonly string[]): void => {
    const values = command.options.filter((one) => one.required || one.optional).map(valueName);
    for (const name of [...command.registeredArguments.map((one) => one.name()), ...values]) {
      const known =
        `${path.join(' ')} ${name}` in LIVE_NAMES || name in LIVE_NAMES || FREE.includes(name.toLowerCase());
      const own = { provider: OF_PROVIDERS, install: OF_INSTALL }[path[0] ?? ''] ?? [];
      if (!known && !own.includes(name)) unknown.push(`${path.join(' ')} <${name}>`);
    }
    for (const one of command.commands) walk(one, [...path, one.name()]);
  };
  walk(root, []);
  expect(unknown).toEqual([]);
});

it('bash offers the names, and options after a dash', async () => {
  const { out } = await world.run(['completion', 'bash']);
  const complete = (...words: string[]): string[] => {
    const stub = `tancho() { [[ "$1" = __complete ]] && printf '%s\\n' shop shelf; }`;
    const script = `${stub}\n${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _tancho; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script, 'bash', ...words], { encoding: 'utf8' })
      .trim()
      .split('\n');
  };
  expect(complete('tancho', 'app', 'info', '')).toEqual(['shop', 'shelf']);
  expect(complete('tancho', 'app', 'info', 'she')).toEqual(['shelf']);
  expect(complete('tancho', 'app', 'info', '--a')).toEqual(['--app']);
  expect(complete('tancho', 'app', 'inf')).toEqual(['info']);
});

it('zsh gets the same, without the variables and the arithmetic that mean something else there', async () => {
  const { out } = await world.run(['completion', 'zsh']);
  expect(out).not.toMatch(/\b(?:path|words|status|argv)=/);
  expect(out).not.toMatch(/:[A-Z]/);
});
