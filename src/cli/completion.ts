import type { Command } from 'commander';
import type { Cli } from './cli.ts';
import { UsageError } from './errors.ts';
import type { CliContext } from './context.ts';

/** One command of the tree, as far as a shell needs it. */
export interface Word {
  readonly name: string;
  readonly description: string;
  readonly options: readonly string[];
  readonly words: readonly Word[];
}

/** `tree` gives the command line with every noun loaded. */
export function registerCompletion(command: Command, cli: Cli, tree: (context: CliContext) => Promise<Command>): void {
  command
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText(
      'after',
      `
To use it:
  bash  source <(tancho completion bash)
  zsh   source <(tancho completion zsh)
  fish  tancho completion fish | source`,
    )
    .action(async (shell: string) => {
      const write = SCRIPTS[shell];
      if (write === undefined) throw new UsageError(`There is no completion for "${shell}".`, 'Use bash, zsh or fish.');
      cli.print(write(wordOf(await tree(cli.context))));
    });
}

export function wordOf(command: Command): Word {
  const options = [...command.options, ...(command.parent === null ? [] : rootOf(command).options)];
  const long = options
    .filter(({ hidden, long: name }) => !hidden && name !== '--version')
    .flatMap((one) => one.long ?? []);
  return {
    name: command.name(),
    description: command.description(),
    options: [...new Set([...long, '--help'])].sort(),
    words: command.commands.map(wordOf),
  };
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

const SCRIPTS: Readonly<Record<string, (root: Word) => string>> = { bash, zsh, fish };

/** Every place of the tree: the path of words to it, and what may come next. */
function places(word: Word, path: readonly string[] = []): { path: string; next: string[] }[] {
  const next = [...word.words.map(({ name }) => name), ...word.options];
  return [{ path: path.join(' '), next }, ...word.words.flatMap((one) => places(one, [...path, one.name]))];
}

function bash(root: Word): string {
  const cases = places(root).map(({ path, next }) => `    '${path}') words='${next.join(' ')}' ;;`);
  return `_tancho() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
    if [[ -n "$words" || "$path" != *' '* ]]; then break; fi
    path="\${path% *}"
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _tancho tancho`;
}

function zsh(root: Word): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(root)}`;
}

function fish(root: Word): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = ['complete -c tancho -f'];
  for (const noun of root.words) {
    lines.push(`complete -c tancho -n __fish_use_subcommand -a ${noun.name} -d ${quote(noun.description)}`);
    const inNoun = `__fish_seen_subcommand_from ${noun.name}`;
    const verbs = noun.words.map(({ name }) => name);
    const noVerb = verbs.length === 0 ? inNoun : `${inNoun}; and not __fish_seen_subcommand_from ${verbs.join(' ')}`;
    for (const { name, description } of noun.words) {
      lines.push(`complete -c tancho -n ${quote(noVerb)} -a ${name} -d ${quote(description)}`);
    }
    for (const one of [noun, ...noun.words]) {
      const place = one === noun ? noVerb : `${inNoun}; and __fish_seen_subcommand_from ${one.name}`;
      for (const option of one.options) lines.push(`complete -c tancho -n ${quote(place)} -l ${option.slice(2)}`);
    }
  }
  return lines.join('\n');
}
