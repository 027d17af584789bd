/** Several controls on one PostgreSQL database and one engine, each with a router and news of its own. */
import { createPostgresNews } from '../../src/backends/news/postgres/postgres-news.ts';
import { createMemoryRouter } from '../../src/backends/router/memory/memory-router.ts';
import type { News } from '../../src/domain/controls/news.ts';
import type { Router } from '../../src/domain/routes/router.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { type DomainWorld, type Machine, remembering, startMachine } from './domain-world.ts';
import { createTestDatabase } from './postgres.ts';

export interface SeveralControls {
  readonly machine: Machine;
  /** In the order in which the controls were started, as `news` are. */
  readonly routers: readonly Router[];
  readonly news: readonly News[];
  start(owner: string): Promise<DomainWorld>;
  dispose(): Promise<void>;
}

interface Timing {
  readonly ttlMs: number;
  readonly lookEveryMs: number;
  readonly suspectMs: number;
}

/** News that is lost is looked for after so long that a control that is not notified does nothing. */
const LOOK_EVERY_MS = 600_000;

export async function severalControls(timing: Timing, settings: Partial<Settings> = {}): Promise<SeveralControls> {
  const database = await createTestDatabase();
  const url = database?.url ?? '';
  const machine = await startMachine(url, settings);
  const routers: Router[] = [];
  const news: News[] = [];
  const worlds: DomainWorld[] = [];
  return {
    machine,
    routers,
    news,
    async start(owner) {
      const { router, table } = remembering(await createMemoryRouter({ listen: { host: '127.0.0.1', port: 0 } }));
      routers.push(router);
      const own = await createPostgresNews({ url, logger: SILENT, lookEveryMs: LOOK_EVERY_MS });
      news.push(own);
      const world = await machine.start({ owner, several: { news: own, router, table, timing } });
      worlds.push(world);
      return world;
    },
    async dispose() {
      for (const world of worlds) world.crash();
      await Promise.all(news.map((one) => one.close()));
      await machine.dispose();
      await Promise.all(routers.map((router) => router.stop()));
      await database?.dispose();
    },
  };
}
