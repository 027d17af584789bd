/** Commands and shells beside units that are not there. */
import type { Run } from '../../src/domain/apps/run.ts';
import type { Shells } from '../../src/domain/apps/shells.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Memory } from './memory-state.ts';

/** Knows two commands: `echo <text>` and `exit <code>`. */
export function runIn(memory: Memory): Run {
  return {
    async run(caller, name, request) {
      memory.running(memory.allowed(caller, 'app.run', name));
      const [word, ...rest] = String(request.command).split(' ');
      if (word === 'echo') request.output(Buffer.from(`${rest.join(' ')}\n`));
      return word === 'exit' ? Number(rest[0]) : 0;
    },
  };
}

export function shellsIn(memory: Memory): Shells {
  return {
    permitted: async (caller, app) => void memory.allowed(caller, 'app.shell', app),
    async open(caller, app) {
      memory.running(memory.allowed(caller, 'app.shell', app));
      throw new PlatformError('unsupported', 'There are no shells in memory.');
    },
  };
}
