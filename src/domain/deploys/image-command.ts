/** Pure: command lines of people for processes of an image, which are lists of arguments: a shell only where one is needed, and there is one. */
import { argvOf, argvText } from '../../lib/argv-text.ts';
import { Failure } from '../failure.ts';

const SHELL = '/bin/sh';
/** Means something to a shell, also where a word begins with it. */
const FOR_A_SHELL = /[;&|<>()`$\n*?[\]{}~#!]|^\s*[A-Za-z_]\w*=/;
/** Several commands, or words that are not of one program. */
const COMPOUND =
  /[;&|<>()`\n{}!#]|^\s*(?:[A-Za-z_]\w*=|(?:if|for|while|until|case|cd|export|set|exec|eval|source|\.)(?:\s|$))/;

/** `programs`: see SlugImage. Throws Failure `invalid_config`. */
export function imageCommand(process: string, command: string, programs: readonly string[]): string {
  const argv = argvOf(command);
  if (argv !== null && argv.length > 0 && !FOR_A_SHELL.test(command)) return argvText(argv);
  if (programs.includes(SHELL)) {
    // The shell steps aside, so that signals reach the program.
    return argvText([SHELL, '-c', COMPOUND.test(command) ? command : `exec ${command.trim()}`]);
  }
  throw new Failure('invalid_config', `The command of ${process} needs a shell, and the image has none: ${command}`, {
    hint: 'Give one program of the image with its arguments, without variables.',
  });
}
