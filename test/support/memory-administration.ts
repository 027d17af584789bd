/** Plans, platforms and pools for tests of the API alone: there is one platform, and nothing can be added. */
import { type Action, demand } from '../../src/domain/access.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { type ErrorCode, PlatformError } from '../../src/domain/errors.ts';
import type { PlatformView } from '../../src/domain/platforms/platforms.ts';
import type { UseCases } from '../../src/domain/use-cases.ts';

export function memoryAdministration(
  platform: PlatformView,
): Pick<UseCases, 'plans' | 'platforms' | 'pools' | 'registries'> {
  const none = (action: Action, code: ErrorCode) => async (caller: Caller) => {
    demand(caller, action);
    throw new PlatformError(code, 'There are none in memory.');
  };
  return {
    registries: {
      list: async () => [],
      login: none('registry.login', 'team.not_found'),
      logout: none('registry.logout', 'registry.not_found'),
    },
    plans: {
      list: async () => [],
      create: none('plan.create', 'plan.invalid'),
      remove: none('plan.remove', 'plan.not_found'),
      routers: async () => ['memory'],
    },
    platforms: {
      async list(caller) {
        demand(caller, 'platform.list');
        return [platform];
      },
      add: none('platform.add', 'platform.invalid_definition'),
      update: none('platform.update', 'platform.unknown'),
      remove: none('platform.remove', 'platform.unknown'),
    },
    pools: {
      byTeam: async () => [],
      list: async () => [],
      create: none('pool.create', 'pool.invalid_name'),
      update: none('pool.update', 'pool.not_found'),
      remove: none('pool.remove', 'pool.not_found'),
      addTeams: none('pool.team_add', 'pool.not_found'),
      removeTeams: none('pool.team_remove', 'pool.not_found'),
    },
  };
}
