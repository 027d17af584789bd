/** Drains for tests of the API alone: there are none, and none can be made. */
import { demand } from '../../src/domain/access.ts';
import type { Drains } from '../../src/domain/drains/drains.ts';
import { drainNotFound } from '../../src/domain/drains/drain.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Memory } from './memory-state.ts';

export function drainsIn(memory: Memory): Drains {
  const none = async (_caller: unknown, id: string): Promise<never> => {
    throw drainNotFound(id);
  };
  return {
    async list(caller, app) {
      if (app !== '') memory.allowed(caller, 'drain.list', app);
      return [];
    },
    async add(caller, app) {
      if (app === '') demand(caller, 'drain.add');
      else memory.allowed(caller, 'drain.add', app);
      throw new PlatformError('drain.invalid', 'There are none in memory.');
    },
    info: none,
    test: none,
    update: none,
    remove: none,
  };
}
