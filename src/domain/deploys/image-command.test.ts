import { expect, it } from 'vitest';
import { argvOf } from '../../lib/argv-text.ts';
import { imageCommand } from './image-command.ts';

const SHELL = ['/bin/sh'];

it.each([
  ['node server.js', ['node', 'server.js']],
  ['run --name "two words"', ['run', '--name', 'two words']],
  ['serve --port $PORT', ['/bin/sh', '-c', 'exec serve --port $PORT']],
  ['cd /srv && serve', ['/bin/sh', '-c', 'cd /srv && serve']],
  ['A=1 serve', ['/bin/sh', '-c', 'A=1 serve']],
  ['ls *.txt', ['/bin/sh', '-c', 'exec ls *.txt']],
  ["say 'not closed", ['/bin/sh', '-c', "exec say 'not closed"]],
])('%s', (command, argv) => {
  expect(argvOf(imageCommand('web', command, SHELL))).toEqual(argv);
});

it('without a shell it is one program, or refused', () => {
  expect(imageCommand('web', '/app --port 80', [])).toBe('/app --port 80');
  expect(() => imageCommand('web', '/app --port $PORT', [])).toThrow(/web needs a shell, and the image has none/);
});
