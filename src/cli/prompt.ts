/** Questions to people; where nobody can answer, the value is taken from standard input or refused. */
import type { Cli } from './cli.ts';
import type { InputStream, Output } from './context.ts';
import { CliError, UsageError } from './errors.ts';
import { readInput } from './input.ts';

/** One line of text from a person; `flag` is what to use where there is none. */
export async function ask(cli: Cli, question: string, flag: string): Promise<string> {
  if (!cli.interactive) throw new UsageError(`${question} is missing.`, `Give it with ${flag}.`);
  const { text } = await import('@clack/prompts');
  return answered(await text({ message: question, ...terminal(cli) }));
}

/** A password: typed unseen, or the first line of standard input. */
export async function askPassword(cli: Cli, question: string): Promise<string> {
  if (cli.interactive) {
    const { password } = await import('@clack/prompts');
    return answered(await password({ message: question, ...terminal(cli) }));
  }
  const line = (await readInput(cli)).split(/\r?\n/)[0] ?? '';
  if (line === '') throw new UsageError('The password is missing.', 'Give it as the first line of standard input.');
  return line;
}

/** `flag` is what says yes in advance; `question` is only made where somebody can be asked. */
export async function confirm(cli: Cli, question: string | (() => Promise<string>), flag: string): Promise<void> {
  if (!cli.interactive) throw new UsageError('This needs a confirmation.', `Confirm it with ${flag}.`);
  const { confirm: asked } = await import('@clack/prompts');
  const message = typeof question === 'string' ? question : await question();
  const yes = await asked({ message, initialValue: false, ...terminal(cli) });
  if (yes !== true) throw new CliError('Nothing was done.');
}

/** A terminal that does not know its size says 0, and would get each letter on a line of its own. */
function terminal({ context: { stdin, stderr } }: Cli): { input: InputStream; output: Output } {
  if (stderr.columns === 0) Object.defineProperty(stderr, 'columns', { value: 80, configurable: true, writable: true });
  return { input: stdin, output: stderr };
}

function answered(value: string | symbol | undefined): string {
  if (typeof value === 'symbol') throw new CliError('Cancelled; nothing was done.');
  return value ?? '';
}
