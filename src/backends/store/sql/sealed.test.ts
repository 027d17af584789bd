import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SILENT } from '../../../lib/logger.ts';
import { newSealKey, Sealer } from '../../../lib/seal.ts';
import { openSqliteFile } from '../../../sql/sqlite-file.ts';
import { apiKey, populate, release, variable } from '../testing/records.ts';
import { certificate } from '../testing/certificates.ts';
import { binding, instance, service } from '../testing/services.ts';
import { createSqlStore } from './index.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tancho-sealed-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function bytesOf(prefix: string): Promise<Buffer> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
}

describe('sealed values', () => {
  const key = newSealKey();
  const deps = { sealer: new Sealer([key]), logger: SILENT };

  test('lie nowhere in the clear, neither before nor after a checkpoint', async () => {
    const store = await createSqlStore({ kind: 'sqlite', file: join(folder, 'canary.db') }, deps);
    const canary = variable('API_TOKEN', 'canary-7f3a-of-the-environment', { public: true });
    await populate(store, 'shop');
    await store.transact(async (tx) => {
      await tx.setEnv('shop', [canary]);
      await tx.insertRelease(release('shop', 1, { env: await tx.env('shop') }));
      await tx.putApiKey(apiKey('canary-7f3a-of-ann', { keyHash: 'the hash' }));
      await tx.insertService(service('db', { password: 'canary-7f3a-of-db' }));
      await tx.insertInstance(instance('one', { parameters: { size: 'canary-7f3a-size' } }));
      await tx.insertBinding(binding('b', { vars: { URL: 'canary-7f3a-url' } }));
      await tx.updateBinding('b', { vars: { URL: 'canary-7f3a-url-2' } });
      await tx.putCertificate(certificate('c', { key: 'canary-7f3a-key', pendingKey: 'canary-7f3a-pending' }));
      await tx.putIdentity({ authority: 'ca', key: 'canary-7f3a-account', account: '' });
    });
    const open = await bytesOf('canary.db');
    expect(open.includes('API_TOKEN')).toBe(true);
    expect(open.includes('canary-7f3a')).toBe(false);
    await store.transact((tx) => tx.unsetEnv('shop', ['API_TOKEN']));
    await store.close();
    expect((await bytesOf('canary.db')).includes('canary-7f3a')).toBe(false);
  });

  test('do not open with another key, which is reported at start', async () => {
    const options = { kind: 'sqlite', file: join(folder, 'key.db') } as const;
    const store = await createSqlStore(options, deps);
    await populate(store, 'shop');
    await store.transact((tx) => tx.setEnv('shop', [variable('A', 'kept')]));
    await store.close();

    const other = createSqlStore(options, { ...deps, sealer: new Sealer([newSealKey()]) });
    await expect(other).rejects.toMatchObject({ code: 'unavailable', message: /sealed with another key/ });

    const rotated = await createSqlStore(options, { ...deps, sealer: new Sealer([newSealKey(), key]) });
    expect(await rotated.env('shop')).toEqual([variable('A', 'kept')]);
    await rotated.close();
  });

  test('do not open in another place', async () => {
    const file = join(folder, 'moved.db');
    const store = await createSqlStore({ kind: 'sqlite', file }, deps);
    await populate(store, 'shop', 'blog');
    await store.transact((tx) => tx.setEnv('shop', [variable('A', 'secret')]));
    const handle = await openSqliteFile({ file, synchronous: 'FULL' });
    handle.exec(`UPDATE env SET app = 'blog'`);
    handle.close();
    await expect(store.env('blog')).rejects.toMatchObject({ code: 'unavailable', message: /belongs elsewhere/ });
    await store.close();
  });
});
