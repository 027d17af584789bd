/** What may stand at the end of a command line that is being typed: `tancho __complete <words>`, asked by the shells. */
import type { Argument, Command, Option } from 'commander';
import type { Cli } from './cli.ts';
import type { CliContext } from './context.ts';
import { LIVE_NAMES, liveNames, type TypedWord } from './live-names.ts';

type Create = (context: CliContext, wanted: ReadonlySet<string>) => Promise<{ root: Command; cli: Cli }>;

/** Prints the candidates, one per line. `words`: all after `tancho`; the last one is the one being typed. */
export async function complete(words: readonly string[], context: CliContext, create: Create): Promise<number> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  const { root, cli } = await create(context, new Set(before));
  const { target } = valuesOf(root, before);
  if (target !== undefined) root.setOptionValue('target', target);
  const names = await liveNames(cli, placeIn(root, before));
  // The shells would expand anything else.
  const safe = names.filter((name) => name.startsWith(current) && /^[\w@][\w@.:/=+-]*$/.test(name));
  for (const name of safe) cli.print(name);
  return 0;
}

/** Where the next word would stand. */
function placeIn(root: Command, words: readonly string[]): TypedWord {
  let command = root;
  const path: string[] = [];
  const given: string[] = [];
  const options = () => [...command.options, ...root.options];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const option = options().find(({ long, short }) => word === long || word === short);
    if (option !== undefined) {
      if (takesValue(option)) index += 1;
      // The value of this option is what is being typed.
      if (index === words.length)
        return { key: keyOf(path, valueName(option)), app: appIn(command, words, given), given };
    } else if (!word.startsWith('-')) {
      const next =
        given.length === 0
          ? command.commands.find((one) => one.name() === word || one.aliases().includes(word))
          : undefined;
      if (next === undefined) given.push(word);
      else {
        command = next;
        path.push(next.name());
      }
    }
  }
  const argument = argumentAt(command, given.length);
  const key = argument === undefined ? null : keyOf(path, argument.name());
  return { key, app: appIn(command, words, given), given };
}

/** Named by the option, or by the argument of that name. */
function appIn(command: Command, words: readonly string[], given: readonly string[]): string | undefined {
  const position = command.registeredArguments.findIndex((one) => one.name() === 'app');
  return valuesOf(command, words).app ?? (position === -1 ? undefined : given[position]);
}

/** The last argument may take several words. */
function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

function keyOf(path: readonly string[], name: string): string | null {
  return [`${path.join(' ')} ${name}`, name].find((key) => key in LIVE_NAMES) ?? null;
}

function takesValue(option: Option): boolean {
  return option.required || option.optional;
}

/** `<team>` -> `team` */
export function valueName(option: Option): string {
  return /[<[]([^\]>.]+)/.exec(option.flags)?.[1] ?? '';
}

/** The values of --app and --target so far. */
function valuesOf(command: Command, words: readonly string[]): { app?: string; target?: string } {
  const found: { app?: string; target?: string } = {};
  for (const [index, word] of words.entries()) {
    const [name = '', inline] = word.split(/=(.*)/s, 2);
    const value = inline ?? words[index + 1];
    if (value === undefined) continue;
    if (name === '--target') found.target = value;
    if (name === '--app' || (name === '-a' && command.options.some((one) => one.short === '-a'))) found.app = value;
  }
  return found;
}
