import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import type { BackupContents, BackupSource, CopiedState } from '../../../domain/backups/backup-store.ts';
import { restoreBackup } from '../../../lib/backups/restore-backup.ts';
import { readManifest } from '../../../lib/backups/manifest.ts';
import { backupStoreConformance } from '../conformance.ts';
import { createDirectoryBackups } from './directory-backups.ts';

/** Of a state that has nothing; what is put in order in it is a table. */
async function openState(file: string): Promise<CopiedState & { close(): Promise<void> }> {
  const database = new DatabaseSync(file);
  return {
    apps: async () => [],
    release: async () => null,
    volumes: async () => [],
    async transact() {
      database.exec('CREATE TABLE in_order (app TEXT)');
      throw new Error('there is nothing in it');
    },
    close: async () => database.close(),
  };
}

function sourceOf(contents: BackupContents): BackupSource {
  return {
    contents: async () => contents,
    async settled(copied) {
      await copied?.transact(() => Promise.resolve()).catch(() => undefined);
      return contents;
    },
  };
}

function tablesIn(file: string): unknown[] {
  const database = new DatabaseSync(file);
  const tables = database.prepare('SELECT name FROM sqlite_master').all();
  database.close();
  return tables.map(({ name }) => name);
}

async function world() {
  const root = await mkdtemp(join(tmpdir(), 'tancho-backup-store-'));
  const [home, directory] = [join(root, 'home'), join(root, 'backups')];
  await mkdir(home);
  await writeFile(join(home, 'secret.key'), 'the key');
  new DatabaseSync(join(home, 'tancho.db')).close();
  const options = { home, directory, keep: 2, version: '0.1.0', databases: ['tancho.db'] };
  const store = createDirectoryBackups({ ...options, openState });
  return { root, home, directory, store, dispose: () => rm(root, { recursive: true, force: true }) };
}

backupStoreConformance('directory', async () => {
  const { home, store, dispose } = await world();
  return {
    store,
    dispose,
    async breaks() {
      // Root may write wherever it likes, but not copy what is no database.
      await writeFile(join(home, 'tancho.db'), 'this is no database at all, and it is long enough to be seen as none');
    },
  };
});

it('says before it begins that tar is not the one it needs', async () => {
  const { root, store, directory, dispose } = await world();
  const { PATH } = process.env;
  try {
    await mkdir(join(root, 'bin'));
    await writeFile(join(root, 'bin', 'tar'), '#!/bin/sh\necho "tar (busybox) 1.36.1"\n', { mode: 0o755 });
    process.env['PATH'] = `${join(root, 'bin')}:${PATH}`;
    const { signal } = new AbortController();
    const nothing = sourceOf({ artifacts: [], needed: [], apps: [], volumes: [] });
    await expect(store.make(nothing, new Date(0), signal)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('GNU tar is needed'),
      hint: expect.stringContaining('Install GNU tar'),
    });
    expect(existsSync(directory)).toBe(false);
  } finally {
    process.env['PATH'] = PATH;
    await dispose();
  }
});

it('has the code that runs and the tools it needs, and nothing of the home besides', async () => {
  const { root, home, directory, store, dispose } = await world();
  try {
    for (const path of [
      'slugs/shop/one/code',
      'slugs/shop/old/code',
      'toolchains/go/tree',
      'cache/shop/layer',
      'units/u1',
    ]) {
      await mkdir(join(home, path), { recursive: true });
      await writeFile(join(home, path, 'file'), path);
    }
    await writeFile(join(home, 'toolchains', 'go', 'ready'), '');
    await mkdir(join(home, 'sandbox', 'cgroups'), { recursive: true });
    await writeFile(join(home, 'sandbox', 'tenants.json'), 'the users of apps, by which files of volumes are theirs');
    const needed = [join(home, 'toolchains', 'go', 'tree'), join(home, 'cache', 'shop', 'layer'), '/usr/lib'];
    const { signal } = new AbortController();
    const { name } = await store.make(
      sourceOf({ artifacts: ['shop/one'], needed, apps: ['shop'], volumes: ['shop/data'] }),
      new Date(0),
      signal,
    );
    expect((await readManifest(join(directory, name))).contents).toMatchObject({
      apps: ['shop'],
      volumes: ['shop/data'],
    });
    await rename(home, join(root, 'lost'));
    await restoreBackup(home, join(directory, name));
    const files = execFileSync('find', [home, '-type', 'f', '-printf', '%P\n'], { encoding: 'utf8' })
      .trim()
      .split('\n');
    expect(files.sort()).toEqual([
      'cache/shop/layer/file',
      'sandbox/tenants.json',
      'secret.key',
      'slugs/shop/one/code/file',
      'tancho.db',
      'toolchains/go/ready',
      'toolchains/go/tree/file',
    ]);
    expect(tablesIn(join(home, 'tancho.db'))).toEqual(['in_order']);
    expect(tablesIn(join(root, 'lost', 'tancho.db'))).toEqual([]);
    expect(await readdir(join(root, 'lost'))).not.toContain(`.${name}`);
  } finally {
    await dispose();
  }
});
