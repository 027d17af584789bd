/** Volumes for tests of the API alone: there are none, and none can be made. */
import type { Action } from '../../src/domain/access.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { Volumes } from '../../src/domain/volumes/volumes.ts';
import { volumeNotFound } from '../../src/domain/volumes/volume.ts';
import type { Memory } from './memory-state.ts';

export function volumesIn(memory: Memory): Volumes {
  const none = (action: Action) => async (caller: Caller, app: string, name: string) => {
    memory.allowed(caller, action, app);
    throw volumeNotFound(app, name);
  };
  return {
    async create(caller, app) {
      memory.allowed(caller, 'volume.create', app);
      throw new PlatformError('volume.invalid', 'There are none in memory.');
    },
    async list(caller, app) {
      memory.allowed(caller, 'volume.list', app);
      return [];
    },
    info: none('volume.list'),
    update: none('volume.update'),
    mount: none('volume.mount'),
    unmount: none('volume.unmount'),
    remove: none('volume.remove'),
  };
}
