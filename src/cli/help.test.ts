import type { Command } from 'commander';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { cliDocs } from './docs.ts';
import { COMMANDS, createProgram, runCli } from './program.ts';

const golden = new URL('../../test/golden/cli-help/', import.meta.url);
const page = new URL('../../docs/cli.md', import.meta.url);
const update = process.env['UPDATE_GOLDEN'] === '1';
const world = new CliWorld();
afterAll(() => world.dispose());

const paths: string[][] = [];
let docs = '';
beforeAll(async () => {
  const { root } = await createProgram(world.context(), new Set(Object.keys(COMMANDS)));
  const walk = (command: Command, path: string[]): void => {
    paths.push(path);
    for (const one of command.commands) walk(one, [...path, one.name()]);
  };
  walk(root, []);
  docs = cliDocs(root);
  if (update) {
    await rm(golden, { recursive: true, force: true });
    await mkdir(golden, { recursive: true });
    for (const path of paths) {
      const { out } = await world.run([...path, '--help']);
      await writeFile(new URL(nameOf(path), golden), out);
    }
    await writeFile(page, docs);
  }
});

const nameOf = (path: readonly string[]): string => `${['tancho', ...path].join('-')}.txt`;

describe('help (UPDATE_GOLDEN=1 writes the expected texts)', () => {
  it('of every command is as agreed, and no text is left over', async () => {
    expect((await readdir(golden)).sort()).toEqual(paths.map(nameOf).sort());
    for (const path of paths) {
      const { code, out, err } = await world.run([...path, '--help']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toBe(await readFile(new URL(nameOf(path), golden), 'utf8'));
    }
  });

  it('is what docs/cli.md says', async () => {
    expect(await readFile(page, 'utf8')).toBe(docs);
  });

  it('"help app create" is "app create --help"', async () => {
    const asked = await world.run(['help', 'app', 'create']);
    expect(asked).toEqual(await world.run(['app', 'create', '--help']));
  });

  it('"audit" is another name of "event"', async () => {
    for (const verb of ['list', 'show', 'watch', 'verify']) {
      const { code, out } = await world.run(['audit', verb, '--help']);
      expect({ code, out }).toEqual({ code: 0, out: (await world.run(['event', verb, '--help'])).out });
      expect(out).toMatch(new RegExp(`^Usage: tancho event.* ${verb} `));
    }
    expect((await world.run(['audit', 'lst'])).err).toContain('Hint: Did you mean tancho event list?');
  });
});

it('help is no wider than the terminal, and 100 columns in a pipe', async () => {
  const widest = async (columns?: number): Promise<number> => {
    let text = '';
    const stdout = Object.assign(new Writable({ write: (piece, _, done) => (done(), (text += String(piece))) }), {
      isTTY: columns !== undefined,
      columns: columns ?? 0,
    });
    await runCli(['app', '--help'], { ...world.context(), stdout });
    return Math.max(...text.split('\n').map((line) => line.length));
  };
  expect(await widest(60)).toBeLessThanOrEqual(60);
  expect(await widest(300)).toBe(await widest());
  expect(await widest()).toBeGreaterThan(80);
});

describe('wrong use ends with 2 and says how it is right', () => {
  it.each<[string, string[], RegExp]>([
    ['no command', [], /Usage: tancho/],
    ['a noun without a verb', ['app'], /Usage: tancho app/],
    ['an unknown command', ['frobnicate'], /Error: Unknown command 'frobnicate'\.\n {2}Hint: tancho --help/],
    ['a near miss', ['deplyo'], /Hint: Did you mean tancho deploy\?/],
    ['a near miss of a verb', ['app', 'restrat'], /Hint: Did you mean tancho app restart\?/],
    ['a near miss of an option', ['app', 'list', '--nam', 'x'], /Hint: Did you mean tancho app list --name\?/],
    [
      'an option of another verb',
      ['app', 'create', 'x', '--root', 'api'],
      /Hint: tancho app update has it: tancho app update --help/,
    ],
    ['an option before the verb', ['env', '-a', 'shop'], /Hint: tancho env --help/],
    ['a word of other platforms', ['logs', '-a', 'x'], /Hint: That is here: tancho app log\n/],
    ['a verb of apps alone', ['shell'], /Hint: That is here: tancho app shell\n/],
    ['a plural', ['apps'], /Hint: That is here: tancho app list\n/],
    ['two words in one', ['config:set', 'A=1'], /Hint: That is here: tancho env set\n/],
    ['a verb of other platforms', ['app', 'destroy', 'x'], /Hint: That is here: tancho app remove\n/],
    ['a verb that another noun has', ['env', 'ls'], /Hint: That is here: tancho env get\n/],
    ['an unknown verb', ['app', 'frobnicate'], /Hint: tancho app --help/],
    ['a missing argument', ['app', 'create'], /Missing required argument 'name'\.\n {2}Hint: tancho app create --help/],
    ['one word too many', ['user', 'list', 'x'], /Too many arguments .* got 1\.\n/],
    ['an unknown option', ['app', 'list', '--bogus'], /Unknown option '--bogus'/],
    ['options of a command without --', ['app', 'run', '-a', 'x', 'ls', '-l'], /Put -- before the command/],
    ['a bad number', ['app', 'log', '-a', 'x', '-n', 'many'], /--lines must be a whole number/],
    ['no variable', ['env', 'set', '-a', 'x'], /No variable is given/],
    ['no KEY=VALUE', ['env', 'set', '-a', 'x', 'secret'], /Variables are written KEY=VALUE/],
    ['an unknown shell', ['completion', 'csh'], /There is no completion for "csh"/],
    ['an address that is none', ['app', 'list', '--target', 'ftp://x'], /is not the address of a platform/],
  ])('%s', async (_, argv, expected) => {
    const { code, out, err } = await world.run(argv);
    expect(err).toMatch(expected);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  it('never repeats a value that may be a secret', async () => {
    const { err } = await world.run(['env', 'set', '-a', 'x', 'hunter2']);
    expect(err).not.toContain('hunter2');
  });
});

it('version', async () => {
  expect((await world.run(['version'])).out).toBe('tancho 9.9.9\n');
  expect((await world.run(['--version'])).out).toBe('tancho 9.9.9\n');
  expect(JSON.parse((await world.run(['version', '--json'])).out)).toEqual({ version: '9.9.9' });
});
