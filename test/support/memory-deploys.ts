/** Deploys in memory: those that a test says have happened; nothing can be built. */
import { demand, may } from '../../src/domain/access.ts';
import type { Apps } from '../../src/domain/apps/apps.ts';
import type { Deploy } from '../../src/domain/deploys/deploy.ts';
import type { Deploys } from '../../src/domain/deploys/deploys.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { timeOrderedId } from '../../src/lib/ids.ts';
import type { Memory } from './memory-state.ts';

export function deploysIn(memory: Memory, apps: Apps): Deploys {
  return {
    async list(caller, filter) {
      demand(caller, 'deploy.list');
      if (filter.app !== undefined) memory.allowed(caller, 'app.info', filter.app);
      const mine = new Set((await apps.list(caller)).map(({ app }) => app.name));
      const found = memory.deploys.filter(
        (deploy) => mine.has(deploy.app) && (!filter.app || deploy.app === filter.app),
      );
      const skip = filter.skip ?? 0;
      const chosen = found.reverse().slice(skip, skip + (filter.limit ?? found.length));
      return chosen.map((deploy) => ({ deploy, canRollback: false, waitsFor: '' }));
    },
    async info(caller, id) {
      const deploy = memory.deploys.find((each) => each.id === id);
      const app = memory.records.get(deploy?.app ?? '');
      if (deploy === undefined || app === undefined || !may(caller, 'deploy.info', { app })) {
        throw new PlatformError('deploy.not_found', 'Deploy not found.');
      }
      return { deploy, log: 'built\n', canRollback: false, diff: '', waitsFor: '' };
    },
    async deploy() {
      throw new PlatformError('unsupported', 'Nothing can be built in memory.');
    },
    async cancel(caller, app) {
      memory.allowed(caller, 'deploy.cancel', app);
      throw new PlatformError('deploy.not_found', 'No deploy goes on in memory.');
    },
    async rollback(caller, app) {
      memory.allowed(caller, 'app.rollback', app);
      throw new PlatformError('release.not_found', 'There are no releases in memory.');
    },
  };
}

export function finishedDeploy(app: string, by: string): Deploy {
  return {
    id: timeOrderedId(),
    app,
    state: 'done',
    commit: 'c0ffee',
    origin: 'git',
    by,
    startedAt: '2024-05-06T07:08:09.123Z',
    finishedAt: '2024-05-06T07:08:11.123Z',
    durationMs: 2_000,
    release: 1,
    artifact: 'slug-1',
    image: '',
    cause: null,
    error: '',
    warning: '',
    phases: {},
    failedRequests: 0,
    removedAt: null,
  };
}
