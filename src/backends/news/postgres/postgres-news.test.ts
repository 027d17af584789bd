import pg from 'pg';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../../test/support/postgres.ts';
import { NO_POSTGRES, skipFor } from '../../../../test/support/skips.ts';
import { until } from '../../../../test/support/until.ts';
import type { News } from '../../../domain/controls/news.ts';
import { SILENT } from '../../../lib/logger.ts';
import { createPostgresNews } from './postgres-news.ts';

const NEVER_MS = 600_000;

const database = await createTestDatabase();
afterAll(() => database?.dispose());

describe('news', skipFor(database === null && NO_POSTGRES), () => {
  const url = database?.url ?? '';
  const open: News[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((news) => news.close()));
  });

  async function control(lookEveryMs = NEVER_MS): Promise<{ news: News; heard: (string | null)[] }> {
    const news = await createPostgresNews({ url, logger: SILENT, lookEveryMs });
    open.push(news);
    const heard: (string | null)[] = [];
    news.on('routes', (subject) => heard.push(subject));
    return { news, heard };
  }

  it('is heard by all others, once for what is reported several times, and not by who reports it', async () => {
    const [one, two, three] = [await control(), await control(), await control()];
    for (const app of ['shop', 'shop', 'blog', 'shop']) one.news.publish('routes', app);
    one.news.publish('log', 'shop');
    await until(() => two.heard.length >= 2 && three.heard.length >= 2, { what: 'the news' });
    two.news.publish('routes', 'last');
    await until(() => one.heard.length > 0 && three.heard.includes('last'), { what: 'more news' });
    expect([one.heard, two.heard, three.heard]).toEqual([['last'], ['shop', 'blog'], ['shop', 'blog', 'last']]);
  });

  it('of very much is reported in pieces, and of too much as anything', async () => {
    const [one, two] = [await control(), await control()];
    const apps = Array.from({ length: 500 }, (_, number) => `an-app-with-a-rather-long-name-${number}`);
    for (const app of apps) one.news.publish('routes', app);
    await until(() => two.heard.length >= apps.length, { what: 'all the news' });
    expect(two.heard).toEqual(apps);
    one.news.publish('routes', 'x'.repeat(10_000));
    one.news.publish('routes', 'together with it');
    await until(() => two.heard.includes('together with it'), { what: 'the news beside what is too long' });
    expect(two.heard.splice(apps.length)).toEqual([null, 'together with it']);
    for (let number = 0; number < 2_000; number++) one.news.publish('routes', `app-${number}`);
    await until(() => two.heard.includes(null), { what: 'the word that anything may have happened' });
  });

  it('is reported and looked for one after the other', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', onWarning);
    const [one, two] = [await control(1), await control()];
    for (let reported = 0; two.heard.length < 20; reported++) {
      one.news.publish('routes', `app-${reported}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    process.off('warning', onWarning);
    expect(warnings.filter((message) => message.includes('client.query()'))).toEqual([]);
  });

  it('that was lost with a connection is made up for by a look, and more is heard on a new connection', async () => {
    const [one, two] = [await control(), await control()];
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    try {
      const { rowCount } = await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'tancho news'`,
      );
      expect(rowCount).toBe(2);
    } finally {
      await admin.end();
    }
    await until(() => one.heard.includes(null) && two.heard.includes(null), { what: 'both to look for themselves' });
    one.news.publish('routes', 'afterwards');
    await until(() => two.heard.includes('afterwards'), { what: 'the news after the loss' });
    expect(one.heard).not.toContain('afterwards');
  });

  it('is looked for now and then, whatever is reported', async () => {
    const one = await control(20);
    await until(() => one.heard.includes(null), { what: 'a look' });
  });

  it('that could not be sent is made up for: the others look for themselves once there is a connection again', async () => {
    const [one, two] = [await control(), await control()];
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    try {
      const { rows } = await admin.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and application_name = 'tancho news'
         order by backend_start limit 1`,
      );
      // In the moment in which nobody knows yet that the connection is lost, or while there is none.
      const ending = admin.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      while (!one.heard.includes(null)) {
        one.news.publish('routes', 'unheard');
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await ending;
    } finally {
      await admin.end();
    }
    await until(() => two.heard.includes(null) || two.heard.at(-1) === 'unheard', { what: 'the others to know' });
  });
});
