import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld } from '../../test/support/cli-world.ts';
import { Cli } from './cli.ts';
import { ask } from './prompt.ts';

let world: CliWorld;
beforeEach(() => {
  world = new CliWorld();
});
afterEach(() => world.dispose());

it('keeps a question in one line on a terminal that does not know its size', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 0, rows: 0 });
  let shown = '';
  stderr.setEncoding('utf8').on('data', (piece: string) => (shown += piece));
  const cli = new Cli({ ...world.context(), stdin, stderr }, () => ({}));
  const asked = ask(cli, 'E-mail of somebody', '--email');
  await expect.poll(() => shown).toContain('E-mail of somebody');
  stdin.write('a@b.cc\r');
  expect(await asked).toBe('a@b.cc');
});
