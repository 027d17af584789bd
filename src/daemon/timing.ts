import type { ProviderTimeouts } from '../domain/services/provider.ts';
import type { Orphans } from '../domain/services/orphans.ts';
import type { UnitBindings } from '../domain/services/unit-bindings.ts';
import type { Routes } from '../domain/routes/routes.ts';
import type { Rollouts } from '../domain/rollouts/rollouts.ts';

/** How long parts wait; each has its own answer where nothing is said. */
export interface Timing {
  readonly deadlines?: ProviderTimeouts;
  readonly orphans?: Pick<ConstructorParameters<typeof Orphans>[0], 'lateMs' | 'pauses'>;
  readonly unitBindings?: Pick<ConstructorParameters<typeof UnitBindings>[0], 'gatherMs' | 'retryMs'>;
  readonly routes?: Pick<ConstructorParameters<typeof Routes>[0], 'giveUpMs'>;
  readonly rollouts?: Pick<ConstructorParameters<typeof Rollouts>[0], 'patienceMs'>;
}
