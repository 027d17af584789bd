/** What is said to a command line that cannot be understood, and what to do about it. */
import type { Command } from 'commander';
import { UsageError } from './errors.ts';
import { familiar } from './familiar.ts';

/** `code` and `message` are commander's; `tree` has every command. */
export function wrongUse(code: string, message: string, words: readonly string[], tree: Command): UsageError {
  const [first = '', ...rest] = message.replace(/^error: /, '').split('\n');
  const text = `${first.charAt(0).toUpperCase()}${first.slice(1).replace(/\.$/, '')}.`;
  const named = plainWords(words);
  const known = knownPath(tree, named);
  if (code === 'commander.unknownCommand') {
    const meant = familiar([...known, ...named.slice(known.length)], (noun) => verbsOf(tree, noun));
    if (meant !== null) return new UsageError(text, `That is here: tancho ${meant}`);
  }
  const elsewhere = code === 'commander.unknownOption' ? verbWith(tree, known, optionIn(first)) : null;
  if (elsewhere !== null) return new UsageError(text, `tancho ${elsewhere} has it: tancho ${elsewhere} --help`);
  const close = /Did you mean (.+)\?/.exec(rest.join(' '))?.[1];
  if (close !== undefined) {
    const path = close.startsWith('-') ? known : known.slice(0, 1);
    return new UsageError(text, `Did you mean ${['tancho', ...path, close].join(' ')}?`);
  }
  if (known.join(' ') === 'app run' && code === 'commander.unknownOption') {
    return new UsageError(text, 'Put -- before the command, for example: tancho app run -a shop -- ls -l');
  }
  return new UsageError(text, `${['tancho', ...known].join(' ')} --help shows how to use it.`);
}

/** Without options, and without the value of the one that may stand anywhere. */
function plainWords(words: readonly string[]): string[] {
  return words.filter((word, index) => !word.startsWith('-') && words[index - 1] !== '--target');
}

/** As many words from the first on as name a command. */
function knownPath(tree: Command, words: readonly string[]): string[] {
  const path: string[] = [];
  let at: Command | undefined = tree;
  for (const word of words) {
    at = at.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (at === undefined) break;
    path.push(at.name());
  }
  return path;
}

function optionIn(message: string): string {
  return /'(--[\w-]+)/.exec(message)?.[1] ?? '';
}

/** Another command of the same noun that has the very option: `app update`. */
function verbWith(tree: Command, [noun = '', verb = '']: readonly string[], option: string): string | null {
  const verbs = tree.commands.find((one) => one.name() === noun)?.commands ?? [];
  const other = verbs.find((one) => one.name() !== verb && one.options.some(({ long }) => long === option));
  return other === undefined ? null : `${noun} ${other.name()}`;
}

function verbsOf(tree: Command, noun: string): string[] {
  return tree.commands.find((one) => one.name() === noun)?.commands.map((one) => one.name()) ?? [];
}
