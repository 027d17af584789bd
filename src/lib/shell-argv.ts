/** Pure: a command line, as people write it for a shell, as what is started. */

/** Words that mean something to the shell itself and are lost, or change meaning, behind `exec`. */
const SHELL_WORDS = new Set(
  (
    'if then else elif fi for while until do done case esac function select time coproc ' +
    'alias bg bind break builtin cd command continue declare dirs eval exec exit export fg getopts hash jobs kill let local ' +
    'popd pushd read readonly return set shift shopt source times trap type typeset ulimit umask unalias unset wait'
  ).split(' '),
);

/**
 * True for one program with arguments and nothing else: then the shell can step aside, and signals reach the program itself.
 * When in doubt false, which only keeps the shell in between.
 */
export function isSimpleCommand(command: string): boolean {
  const [word = ''] = command.trim().split(/\s+/, 1);
  if (!/^[A-Za-z0-9_/.][A-Za-z0-9_/.+-]*$/.test(word) || word === '.' || SHELL_WORDS.has(word)) return false;
  return !/[;&|<>()`\n\r#!\\]/.test(command);
}

export function shellArgv(command: string): string[] {
  return ['/bin/sh', '-c', isSimpleCommand(command) ? `exec ${command.trim()}` : command];
}
