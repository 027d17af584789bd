/** Changes of apps, which are tested over the real use cases (domain-api.ts): here the app is only looked up. */
import type { Action } from '../../src/domain/access.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import type { UseCases } from '../../src/domain/use-cases.ts';
import type { Memory } from './memory-state.ts';

export function changesIn(
  memory: Memory,
): Pick<UseCases, 'scale' | 'startStop' | 'swap' | 'cnames' | 'links' | 'appChanges' | 'appUpkeep'> {
  const refuse = (action: Action) => async (caller: Caller, app: unknown) => {
    memory.allowed(caller, action, String(app));
    throw new PlatformError('unsupported', 'Nothing can be changed like this in memory.');
  };
  return {
    scale: { add: refuse('unit.add'), remove: refuse('unit.remove'), set: refuse('unit.add') },
    startStop: { start: refuse('app.start'), stop: refuse('app.stop') },
    swap: { swap: refuse('app.swap') },
    cnames: {
      add: refuse('app.cname_add'),
      replace: refuse('app.cname_add'),
      judgeReplace: refuse('app.cname_add'),
      remove: refuse('app.cname_remove'),
    },
    links: { add: refuse('app.link'), remove: refuse('app.unlink') },
    appChanges: {
      change: refuse('app.update'),
      judge: refuse('app.update'),
      grant: refuse('app.grant'),
      revoke: refuse('app.revoke'),
    },
    appUpkeep: {
      unlock: refuse('app.unlock'),
      republish: refuse('app.routes'),
      async metricEnvs(caller, app) {
        memory.allowed(caller, 'app.info', app);
        return {};
      },
    },
  };
}
