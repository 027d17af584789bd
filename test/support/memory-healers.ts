import { demand } from '../../src/domain/access.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Healers } from '../../src/domain/healers/healers.ts';

/** One healer that finds nothing. */
export function createMemoryHealers(): Healers {
  return {
    async list(caller) {
      demand(caller, 'healer.list');
      return [{ name: 'units', description: '', isExternal: false }];
    },
    async run(caller, name) {
      demand(caller, 'healer.run');
      if (name !== 'units') throw new PlatformError('healer.not_found', `There is no healer "${name}".`);
      const at = new Date().toISOString();
      return { healer: name, startedAt: at, finishedAt: at, found: [], answer: null };
    },
    async recent(caller) {
      demand(caller, 'healer.list');
      return [];
    },
    round: async () => {},
  };
}
