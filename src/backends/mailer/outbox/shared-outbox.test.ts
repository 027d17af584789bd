import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import type { News, NewsListener } from '../../../domain/controls/news.ts';
import { SILENT } from '../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import { createSqlStore } from '../../store/sql/index.ts';
import { mailerConformance } from '../conformance.ts';
import { createSharedOutbox } from './shared-outbox.ts';

const MAIL = { to: 'ann@example.com', subject: 's', text: 'secret\n' };

/** Servers on one store, each with a home. */
async function servers() {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-letters-'));
  const deps = { sealer: new Sealer([newSealKey()]), logger: SILENT };
  const store = await createSqlStore({ kind: 'sqlite', file: join(folder, 'tancho.db') }, deps);
  const listeners: NewsListener[] = [];
  let time = Date.parse('2024-05-06T07:08:09Z');
  const now = (): Date => new Date((time += 1_000));
  const at = (name: string) => {
    const own: NewsListener[] = [];
    const news: News = {
      publish: (_topic, subject) => listeners.filter((one) => !own.includes(one)).forEach((one) => one(subject)),
      on: (_topic, listener) => void (own.push(listener), listeners.push(listener)),
      close: async () => {},
    };
    const directory = join(folder, name);
    const files = async (): Promise<string[]> => (await readdir(directory).catch(() => [])).sort();
    const mailer = createSharedOutbox({ directory, from: 'tancho@example.com', now, store, news, logger: SILENT });
    const received = async (): Promise<string[]> =>
      Promise.all((await files()).map((file) => readFile(join(directory, file), 'utf8')));
    return { mailer, directory, files, received };
  };
  const dispose = async (): Promise<void> => {
    await store.close();
    await rm(folder, { recursive: true });
  };
  return { at, store, dispose };
}

mailerConformance('shared outbox', async () => {
  const { at, dispose } = await servers();
  const { mailer, received } = at('one');
  return { mailer, received, dispose };
});

it('a letter is a row, and a file of every server, also of one that comes later', async () => {
  const { at, store, dispose } = await servers();
  const [one, two] = [at('one'), at('two')];
  await one.mailer.send(MAIL);
  expect(await store.letterNames()).toHaveLength(1);
  await until(async () => (await two.received())[0]?.includes('secret') === true, { what: 'the other to have it' });
  expect(await two.files()).toHaveLength(1);
  const third = at('three');
  await until(async () => (await third.files()).length === 1, { what: 'a later one to have it' });
  await dispose();
});

it('a letter that an operator has removed is not written again with the next', async () => {
  const { at, dispose } = await servers();
  const { mailer, directory, files } = at('one');
  await mailer.send(MAIL);
  const [first = ''] = await files();
  await rm(join(directory, first));
  await mailer.send(MAIL);
  expect(await files()).toHaveLength(1);
  expect(await files()).not.toContain(first);
  await dispose();
});

it('a letter that no row is made of is not sent', async () => {
  const { at, store, dispose } = await servers();
  const { mailer, files } = at('one');
  await mailer.send(MAIL);
  await store.close();
  await expect(mailer.send(MAIL)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await files()).toHaveLength(1);
  await dispose().catch(() => undefined);
});
