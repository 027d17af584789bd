import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../../../test/support/skips.ts';
import { containerCommand } from './container-command.ts';

it('takes the words of an image as they are, and has the shell step aside for one program', () => {
  expect(containerCommand({ command: "/app 'a b'" })).toEqual(['/app', 'a b']);
  expect(containerCommand({ command: '' })).toEqual([]);
  expect(containerCommand({ command: 'node server.js', isBuilt: true })).toEqual([
    ...['/bin/sh', '-c', 'exec node server.js'],
  ]);
});

/** Its first process is the first of a space of its own, as in a container. */
function contained(command: string): { readonly child: ChildProcess; readonly printed: () => string } {
  const argv = ['--pid', '--fork', '--kill-child', '--', ...containerCommand({ command, isBuilt: true })];
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout?.on('data', (data: Buffer) => (printed += data.toString()));
  return { child, printed: () => printed };
}

it.each([
  ['gives the exit code of what it ran', 'true && exit 3', 3],
  ['gives a death by a signal as shells do', 'true; sh -c "kill -KILL \\$\\$"', 137],
])('%s', skipFor(NOT_ROOT), async (_name, command, code) => {
  const { child } = contained(command);
  expect((await once(child, 'exit'))[0]).toBe(code);
});

it('informs the program behind a line that it is to end, and waits until it has', skipFor(NOT_ROOT), async () => {
  const program = `process.on("SIGTERM", () => setTimeout(() => { console.log("done"); process.exit(0); }, 300)); setInterval(() => {}, 1000); console.log("up")`;
  const { child, printed } = contained(`true && ${process.execPath} -e '${program}'`);
  const gone = once(child, 'exit');
  await expect.poll(printed).toBe('up\n');
  const [first = 0] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  process.kill(first, 'SIGTERM');
  await gone;
  expect(printed()).toBe('up\ndone\n');
});
