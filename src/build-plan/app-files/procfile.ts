/** Procfile: one `name: command` per line. */
import { Failure } from '../../domain/failure.ts';

/** Not the one under which the platform itself speaks in the log of an app. */
export const PROCESS_NAME = /^(?!tancho$)[A-Za-z][A-Za-z0-9_-]{0,62}$/;
export const MAX_PROCESSES = 50;
const MAX_COMMAND = 4096;

/** Name -> command; comments and blank lines are skipped. Throws Failure `invalid_config` naming the line. */
export function parseProcfile(text: string): Record<string, string> {
  const processes: Record<string, string> = {};
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name = '', command = ''] = /^([^\s:]+)\s*:\s*(.*)$/.exec(line) ?? [];
    if (name === '') throw mistake(index, `expected "name: command", found ${JSON.stringify(line.slice(0, 80))}`);
    if (!PROCESS_NAME.test(name)) {
      throw mistake(
        index,
        `the process name ${JSON.stringify(name)} must start with a letter, have only letters, digits, - and _, and not be tancho`,
      );
    }
    if (command === '') throw mistake(index, `the process "${name}" has no command`);
    if (command.length > MAX_COMMAND)
      throw mistake(index, `the command of "${name}" is longer than ${MAX_COMMAND} characters`);
    if (Object.hasOwn(processes, name)) throw mistake(index, `the process "${name}" is defined twice`);
    processes[name] = command;
  }
  if (Object.keys(processes).length > MAX_PROCESSES) {
    throw new Failure('invalid_config', `Procfile: more than ${MAX_PROCESSES} processes.`, {
      hint: 'Remove some of its lines, commit and push again.',
    });
  }
  return processes;
}

function mistake(index: number, what: string): Failure {
  return new Failure('invalid_config', `Procfile line ${index + 1}: ${what}.`, {
    hint: 'Write one process per line, for example "web: node server.js", and push again.',
  });
}
