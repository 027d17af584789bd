import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSqlStore } from '../backends/store/sql/index.ts';
import { SILENT } from '../lib/logger.ts';
import { newSealKey, Sealer } from '../lib/seal.ts';
import { keepSharedHostKey, loadHostKey, sharedHostKey } from './host-key.ts';

it('servers of one database have one key: of whoever was first, sealed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-host-key-'));
  const sealer = new Sealer([newSealKey()]);
  const store = await createSqlStore({ kind: 'sqlite', file: join(folder, 'tancho.db') }, { sealer, logger: SILENT });
  try {
    const files = ['one', 'two', 'three'].map((name) => join(folder, name, 'key'));
    const before = await loadHostKey(files[0] ?? '');
    const keys: string[] = [];
    for (const file of files) keys.push(await sharedHostKey(file, { store, sealer }));
    expect(keys).toEqual([before, before, before]);
    expect(await store.setting('ssh.host-key')).not.toContain('OPENSSH');
    const other = { store, sealer: new Sealer([newSealKey()]) };
    await expect(sharedHostKey(files[0] ?? '', other)).rejects.toThrow('not in the key file');
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});

it('who has the state for itself again has that key in its file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tancho-host-key-'));
  const sealer = new Sealer([newSealKey()]);
  const store = await createSqlStore({ kind: 'sqlite', file: join(folder, 'tancho.db') }, { sealer, logger: SILENT });
  try {
    const [first, second] = ['one', 'two'].map((name) => join(folder, name)) as [string, string];
    await keepSharedHostKey(second, { store, sealer });
    const own = await loadHostKey(second);
    const shared = await sharedHostKey(first, { store, sealer });
    expect(own).not.toBe(shared);
    await keepSharedHostKey(second, { store, sealer });
    expect(await loadHostKey(second)).toBe(shared);
    expect((await readdir(folder)).filter((name) => !name.startsWith('tancho.db'))).toEqual(['one', 'two']);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});
