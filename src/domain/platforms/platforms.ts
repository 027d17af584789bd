/** Use cases of platforms (specification 4.6). */
import type { Caller } from '../caller.ts';
import type { PlatformInfo } from './platform.ts';

export interface Platforms {
  list(caller: Caller): Promise<PlatformInfo[]>;
}
