/** What the conformance suite asks of units, in the language of those in memory. */
import type { ConformanceCommands } from '../conformance-suite.ts';

export const MEMORY_COMMANDS: ConformanceCommands = {
  serve: 'serve',
  serveElsewhere: 'serve-elsewhere',
  exit3: 'print last words; exit 3',
  killSelf: 'die SIGKILL',
  printAndStay: 'print one; print two; print three; stay',
  printEnvironment: 'print $TANCHO_APP $TANCHO_UNIT $TANCHO_PROCESS $GREETING',
  stubborn: 'ignore-term; print ready; stay',
  grow: 'take 1000000000; stay',
  printMuch: 'print-much 40000; print last; stay',
  runAndFail: 'print out; print err; exit 4',
  runLong: 'stay',
};
