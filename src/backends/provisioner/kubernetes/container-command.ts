/** Pure: how a unit is started in a container, whose first process is spared by signals that it does not ask for. */
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { argvOf } from '../../../lib/argv-text.ts';
import { isSimpleCommand, shellArgv } from '../../../lib/shell-argv.ts';

/**
 * Runs `$0` beside itself, hands TERM on to all there is in the container, and ends when nothing of it is left: a shell that ended at TERM, or
 * did not hear of it, would take from the program behind it the time to finish.
 */
const RELAY = [
  // Anywhere but in a container of its own, all there is would be too much.
  '[ "$$" = 1 ] || exec /bin/sh -c "$0"',
  'isEnding=',
  "trap 'isEnding=1; kill -TERM -1 2>/dev/null' TERM",
  '/bin/sh -c "$0" & child=$!',
  'while :; do wait "$child"; code=$?; kill -0 "$child" 2>/dev/null || break; done',
  'while [ "$isEnding" ] && kill -0 -1 2>/dev/null; do sleep 0.1; done',
  'exit "$code"',
].join('\n');

/** As the API takes it, which makes `$` of `$$`, and values of `$(NAME)`. */
export function escaped(argv: readonly string[]): string[] {
  return argv.map((word) => word.replaceAll('$', '$$$$'));
}

/** Empty: there is none. */
export function containerCommand({
  command,
  isBuilt = false,
}: Pick<UnitSpec, 'command' | 'isBuilt'>): readonly string[] {
  if (!isBuilt) return argvOf(command) ?? [];
  return isSimpleCommand(command) ? shellArgv(command) : ['/bin/sh', '-c', RELAY, command];
}
