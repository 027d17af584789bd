/** Releases in memory: one for each app that a test says was deployed. */
import type { Release } from '../../src/domain/apps/app.ts';
import { NO_SETTINGS } from '../../src/domain/apps/app-settings.ts';
import { createReleases, type Releases } from '../../src/domain/apps/releases.ts';
import type { Memory } from './memory-state.ts';

export function releasesIn({ records, deploys }: Memory): Releases {
  const releases = async (name: string): Promise<Release[]> =>
    deploys
      .filter(({ app, release }) => app === name && release !== null)
      .map((deploy, at) => releaseOf(name, at + 1, deploy.id));
  return createReleases({
    store: {
      app: async (name) => records.get(name) ?? null,
      releases: async (name, limit) => (await releases(name)).reverse().slice(0, limit),
      release: async (name, number) => (await releases(name)).find((one) => one.number === number) ?? null,
    },
  });
}

function releaseOf(app: string, number: number, deployId: string): Release {
  return {
    app,
    number,
    artifact: `slug-${number}`,
    deployId,
    commit: 'c0ffee',
    image: '',
    published: '',
    env: [],
    processes: { web: { command: 'node server.js', count: 1 } },
    healthCheck: null,
    hooks: { release: [], restartBefore: [], restartAfter: [] },
    limits: null,
    placement: null,
    settings: NO_SETTINGS,
    mounts: [],
    bindingNames: {},
    maintenancePage: '',
    reason: 'deploy',
    by: 'somebody',
    createdAt: '2024-05-06T07:08:11.123Z',
  };
}
