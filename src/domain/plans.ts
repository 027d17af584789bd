/** Use case of plans: on this platform every unit may use the same, so there is one. */
import { demand } from './access.ts';
import type { Caller } from './caller.ts';
import type { Settings } from './settings.ts';

export interface Plan {
  readonly name: string;
  /** Bytes; 0 for no limit. */
  readonly memoryBytes: number;
}

export interface Plans {
  list(caller: Caller): Promise<Plan[]>;
}

export function createPlans({ settings }: { settings: Pick<Settings, 'unitLimits'> }): Plans {
  return {
    async list(caller) {
      demand(caller, 'plan.list');
      return [{ name: 'default', memoryBytes: settings.unitLimits.memoryBytes }];
    },
  };
}
