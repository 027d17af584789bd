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
  fish  tancho completion fish | source

Names (of apps, teams, units ...) are asked from the platform; without an answer there are none.`,
    )
    .action(async (shell: string) => {
      const write = SCRIPTS[shell];
      if (write === undefined) throw new UsageError(`There is no completion for "${shell}".`, 'Use bash, zsh or fish.');
      cli.print(write(wordOf(await tree(cli.context))));
    });
}

function wordOf(command: Command): Word {
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

interface CompletionNode {
  readonly path: string;
  readonly next: readonly string[];
  /** Where names may stand, which the platform is asked for. */
  readonly isLeaf: boolean;
}

/** Every place of the tree: the path of words to it, and what may come next. */
function places(word: Word, path: readonly string[] = []): CompletionNode[] {
  const next = [...word.words.map(({ name }) => name), ...word.options];
  const place = { path: path.join(' '), next, isLeaf: word.words.length === 0 };
  return [place, ...word.words.flatMap((one) => places(one, [...path, one.name]))];
}

/** For zsh too, where `path` and `words` mean something already. */
function bash(root: Word): string {
  const cases = places(root).map(
    ({ path, next, isLeaf }) => `    '${path}') offered='${next.join(' ')}'${isLeaf ? ' leaf=1' : ''} ;;`,
  );
  return `_tancho() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed='' offered='' word leaf=0 names=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$word" in -*) ;; *) typed="\${typed:+$typed }$word" ;; esac
  done
  while :; do
    case "$typed" in
${cases.map((line) => `  ${line}`).join('\n')}
    esac
    if [[ -n "$offered" || "$typed" != *' '* ]]; then break; fi
    typed="\${typed% *}"
  done
  if [[ "$current" != -* && ( $leaf = 1 || "\${COMP_WORDS[COMP_CWORD-1]}" = -* ) ]]; then
    names="$("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null)"
    if [[ -n "$names" ]]; then offered="$names"; elif [[ $leaf = 1 ]]; then offered=''; fi
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _tancho tancho`;
}

function zsh(root: Word): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bash(root)}`;
}

function fish(root: Word): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = [
    'function __tancho_names',
    '  set -l words (commandline -opc) (commandline -ct)',
    '  $words[1] __complete $words[2..-1] 2>/dev/null',
    'end',
    'complete -c tancho -f',
  ];
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
      if (one.words.length === 0) lines.push(`complete -c tancho -n ${quote(place)} -a '(__tancho_names)'`);
    }
  }
  return lines.join('\n');
}
