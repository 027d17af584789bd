import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.dispose());

function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const target = join(world.work, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}

describe('tancho build plan', () => {
  it('shows what would be done, without a server', async () => {
    write({ 'package.json': '{"scripts":{"start":"node main.js"},"engines":{"node":"22.x"}}', 'main.js': '' });
    const { code, out } = await world.run(['build', 'plan']);
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'Platform nodejs: Node.js with npm',
        'Tool node 22.x (engines.node in package.json)',
        "Tool npm, the server's own",
        'Process web: node main.js (scripts.start in package.json)',
        'Note: The source is taken for nodejs: it has package.json',
        '',
      ],
    ]);
  });

  it('is data with --json, and ends with 1 when there is a problem', async () => {
    write({ 'src/package.json': '{}' });
    const { code, out } = await world.run(['build', 'plan', 'src', '--json']);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      expect.objectContaining({
        platform: 'nodejs',
        problems: [
          expect.objectContaining({ cause: 'no_process', hint: expect.stringContaining('Procfile') as string }),
        ],
      }),
    ]);
  });

  it('knows the platforms of admins by their definition', async () => {
    const definition = 'description: d\nexample: e\ndetect: [x]\nprocesses: [{ name: web, command: ./run }]';
    write({ x: '', 'own.yaml': definition });
    const { code, out } = await world.run(['build', 'plan', '--platform', 'own', '--definition', 'own.yaml']);
    expect([code, out]).toEqual([0, 'Platform own: own\nProcess web: ./run (the platform)\n']);
  });

  it.each([
    [['missing'], 2, /missing is not a directory/],
    [
      ['--platform', 'cobol'],
      1,
      /"cobol" of the app app does not exist here\.\n.*Hint: Platforms of this server: deno, dockerfile, go, /,
    ],
    [[], 1, /The app app has no code yet\.\n.*Hint: Add the files/],
    [['--definition', 'own.yaml'], 2, /needs the name of its platform/],
  ])('says what is wrong with %j', async (argv, code, message) => {
    const ran = await world.run(['build', 'plan', ...argv]);
    expect([ran.code, ran.err]).toEqual([code, expect.stringMatching(message)]);
  });
});
