/** The platform's own healers: the one list of them. What a round does, it does in this order. */
import type { Healer } from './healer.ts';
import { createNetworksHealer, type NetworksHealerDeps } from './networks-healer.ts';
import { createOperationsHealer, type OperationsHealerDeps } from './operations-healer.ts';
import { createRepositoriesHealer } from './repositories-healer.ts';
import { createRoutesHealer } from './routes-healer.ts';
import { createServicesHealer } from './services-healer.ts';
import { createSlugsHealer } from './slugs-healer.ts';
import { createStraysHealer } from './strays-healer.ts';
import { createUnitsHealer, type UnitsHealerDeps } from './units-healer.ts';
import type { GitHost } from '../deploys/git-host.ts';
import type { Orphans } from '../services/orphans.ts';

type OwnHealersDeps = UnitsHealerDeps &
  NetworksHealerDeps &
  OperationsHealerDeps & { readonly gitHost: GitHost; readonly orphans: Orphans };

export function ownHealers(deps: OwnHealersDeps): Healer[] {
  return [
    createOperationsHealer(deps),
    createUnitsHealer(deps),
    createRoutesHealer(deps.routes),
    createNetworksHealer(deps),
    createStraysHealer(deps),
    createSlugsHealer(deps),
    createRepositoriesHealer(deps),
    createServicesHealer(deps.orphans),
  ];
}
