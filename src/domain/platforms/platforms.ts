/** Use cases of platforms (specification 4.6). */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import type { Builder } from '../deploys/builder.ts';
import type { PlatformInfo } from './platform.ts';

export interface Platforms {
  /** Sorted by name. */
  list(caller: Caller): Promise<PlatformInfo[]>;
}

export function createPlatforms(deps: { builder: Builder }): Platforms {
  return {
    async list(caller) {
      demand(caller, 'platform.list');
      return deps.builder.platforms();
    },
  };
}
