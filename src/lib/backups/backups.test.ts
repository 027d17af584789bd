import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  link,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
  chmod,
  readdir,
  readlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { Header } from 'tar';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeTree } from '../remove-tree.ts';
import { ARCHIVE, backupName, listBackups, MANIFEST, readManifest } from './manifest.ts';
import { restoreBackup } from './restore-backup.ts';
import { demandWholeRestore } from './unfinished-restore.ts';
import { type BackupJob, type StateReader, writeBackup } from './write-backup.ts';
import { itLong } from '../../../test/support/long-cases.ts';

let root: string;
let home: string;
let directory: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tancho-backups-'));
  [home, directory] = [join(root, 'home'), join(root, 'backups')];
  await mkdir(join(home, 'repos', 'shop.git'), { recursive: true });
  await writeFile(join(home, 'secret.key'), 'the key', { mode: 0o600 });
  await writeFile(join(home, 'repos', 'shop.git', 'HEAD'), 'ref: refs/heads/main\n');
  await mkdir(join(home, 'slugs', 'shop', 'one', 'code'), { recursive: true });
  await writeFile(join(home, 'slugs', 'shop', 'one', 'code', 'run'), '#!/bin/sh\n');
  await chmod(join(home, 'slugs', 'shop', 'one', 'code', 'run'), 0o755);
  await symlink('run', join(home, 'slugs', 'shop', 'one', 'code', 'link'));
  await mkdir(join(home, 'slugs', 'shop', 'old'), { recursive: true });
  add('first');
});
afterEach(() => removeTree(root));

function add(text: string): void {
  const database = new DatabaseSync(join(home, 'tancho.db'));
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS rows (text TEXT)');
  database.prepare('INSERT INTO rows VALUES (?)').run(text);
  database.close();
}

function rows(): unknown[] {
  const database = new DatabaseSync(join(home, 'tancho.db'));
  const found = database.prepare('SELECT text FROM rows').all();
  database.close();
  return found.map(({ text }) => text);
}

function job(second: number, keep = 7): BackupJob {
  return {
    ...{ home, directory, keep, version: '0.1.0', databases: ['tancho.db'] },
    at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  };
}

const READER: StateReader = {
  paths: async () => ['secret.key', 'slugs/shop/one', 'not-there'],
  contents: async () => ({ apps: ['shop'] }),
};

it('what is backed up comes back into an empty home: rows that are in the write-ahead log only, modes, links', async () => {
  const open = new DatabaseSync(join(home, 'tancho.db'));
  open.exec("INSERT INTO rows VALUES ('second')");
  const { name } = await writeBackup(job(1), READER);
  open.close();
  add('third');
  await rename(home, join(root, 'away'));
  await mkdir(join(home, 'run'), { recursive: true });
  await writeFile(join(home, 'config.yaml'), 'mine\n');
  const manifest = await restoreBackup(home, join(directory, name));
  expect(manifest).toMatchObject({ name, version: '0.1.0', contents: { apps: ['shop'] } });
  expect(rows()).toEqual(['first', 'second']);
  expect((await readdir(home)).sort()).toEqual(['config.yaml', 'repos', 'run', 'secret.key', 'slugs', 'tancho.db']);
  expect(await readFile(join(home, 'repos', 'shop.git', 'HEAD'), 'utf8')).toBe('ref: refs/heads/main\n');
  expect((await stat(join(home, 'secret.key'))).mode & 0o777).toBe(0o600);
  const code = join(home, 'slugs', 'shop', 'one', 'code');
  expect((await stat(join(code, 'run'))).mode & 0o777).toBe(0o755);
  expect(await readlink(join(code, 'link'))).toBe('run');
  expect(await readdir(join(home, 'slugs', 'shop'))).toEqual(['one']);
  expect(await readFile(join(home, 'config.yaml'), 'utf8')).toBe('mine\n');
});

it('code comes back whatever its links lead to and its files are called, and nothing is written through a link', async () => {
  const code = join(home, 'slugs', 'shop', 'one', 'code');
  const links = {
    python: join(home, 'toolchains', 'python'),
    etc: '/etc',
    up: '../../../../../outside',
    dangling: 'no',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(code, name));
  await writeFile(join(code, 'a\\..\\b'), 'odd');
  await link(join(code, 'run'), join(code, 'same'));
  const { name } = await writeBackup(job(1), READER);
  await rename(home, join(root, 'away'));
  await restoreBackup(home, join(directory, name));
  for (const [path, target] of Object.entries(links)) expect(await readlink(join(code, path)), path).toBe(target);
  expect(await readFile(join(code, 'a\\..\\b'), 'utf8')).toBe('odd');
  expect((await stat(join(code, 'same'))).ino).toBe((await stat(join(code, 'run'))).ino);
  expect((await readdir(root)).sort()).toEqual(['away', 'backups', 'home']);
});

itLong(
  'code comes back that no text can name, or that is mostly holes, and what is deeper than a path can be stops nothing',
  async () => {
    const code = join(home, 'slugs', 'shop', 'one', 'code');
    await writeFile(Buffer.concat([Buffer.from(`${code}/`), Buffer.from([0xe9, 0x0a])]), 'latin');
    await writeFile(join(code, 'holes'), '');
    await truncate(join(code, 'holes'), 2 ** 42);
    const deep = `import os\nfor _ in range(40): os.mkdir("d" * 200); os.chdir("d" * 200)\nopen("end", "w").close()`;
    execFileSync('python3', ['-c', deep], { cwd: code });
    const { name } = await writeBackup(job(1), READER);
    await rename(home, join(root, 'away'));
    await restoreBackup(home, join(directory, name));
    expect((await readdir(code, { encoding: 'buffer' })).map(String)).toContain('\ufffd\n');
    expect(await stat(join(code, 'holes'))).toMatchObject({ size: 2 ** 42, blocks: 0 });
    expect(await readdir(join(code, 'd'.repeat(200)))).toEqual(['d'.repeat(200)]);
  },
);

itLong(
  'files with several names are packed whole, and are one file again, however many and wherever they are',
  async () => {
    const code = join(home, 'slugs', 'shop', 'one', 'code');
    for (let count = 1; count <= 12; count += 1) {
      for (let other = 0; other < count % 4; other += 1) await link(join(code, 'run'), join(code, `${count}-${other}`));
      const { name } = await writeBackup(job(count), READER);
      const restored = join(root, `restored-${count}`);
      await rename(home, join(root, 'away'));
      await restoreBackup(home, join(directory, name));
      await rename(home, restored);
      await rename(join(root, 'away'), home);
      const all = await readdir(join(restored, 'slugs', 'shop', 'one', 'code'));
      expect(all.sort()).toEqual((await readdir(code)).sort());
    }
  },
);

it.each([
  ['a name that leads out', { path: '../outside', type: 'File' }],
  ['an absolute name', { path: '/tmp/tancho-outside', type: 'File' }],
  ['another name of a file elsewhere', { path: 'passwd', type: 'Link', linkpath: '/etc/passwd' }],
] as const)('an archive with %s is damaged', async (_what, entry) => {
  const { name } = await writeBackup(job(1), READER);
  const block = Buffer.alloc(512);
  new Header({ ...entry, size: 0, mode: 0o644, mtime: new Date(0) }).encode(block);
  const archive = zstdCompressSync(Buffer.concat([block, Buffer.alloc(1024)]));
  const manifest = await readManifest(join(directory, name));
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const files = manifest.files.map((file) =>
    file.name === ARCHIVE ? { ...file, bytes: archive.length, sha256 } : file,
  );
  await writeFile(join(directory, name, ARCHIVE), archive);
  await writeFile(join(directory, name, MANIFEST), JSON.stringify({ ...manifest, files }));
  await rename(home, join(root, 'away'));
  await expect(restoreBackup(home, join(directory, name))).rejects.toThrow('outside of the home');
  expect((await readdir(root)).sort()).toEqual(['away', 'backups', 'home']);
  expect(await readdir(home)).toEqual([]);
});

it('is for nobody else, and the oldest go when there are more than are kept', async () => {
  for (const second of [1, 2, 3]) await writeBackup(job(second, 2), READER);
  const names = [3, 2].map((second) => backupName(new Date(Date.UTC(2026, 0, 1, 0, 0, second))));
  expect((await listBackups(directory)).map(({ name }) => name)).toEqual(names);
  expect((await readdir(directory)).sort()).toEqual([...names].sort());
  for (const path of [directory, join(directory, names[0] ?? '')]) expect((await stat(path)).mode & 0o077).toBe(0);
  for (const file of await readdir(join(directory, names[0] ?? '')))
    expect((await stat(join(directory, names[0] ?? '', file))).mode & 0o077, file).toBe(0);
});

itLong('one that was cut off is none, and goes with the next', async () => {
  const draft = join(directory, `.${backupName(new Date(0))}.new`);
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, 'tancho.db'), 'half');
  expect(await listBackups(directory)).toEqual([]);
  const { name } = await writeBackup(job(1), READER);
  expect(await readdir(directory)).toEqual([name]);
});

it('a byte that is another one is found before anything is written, and said where', async () => {
  const { name, files } = await writeBackup(job(1), READER);
  await rename(home, join(root, 'away'));
  for (const { name: file } of files) {
    const path = join(directory, name, file);
    const bytes = await readFile(path);
    const damaged = Buffer.from(bytes);
    const middle = Math.floor(damaged.length / 2);
    damaged[middle] = (damaged[middle] ?? 0) ^ 1;
    await writeFile(path, damaged);
    await expect(restoreBackup(home, join(directory, name))).rejects.toThrow(`${path} is damaged.`);
    await rm(path);
    await expect(restoreBackup(home, join(directory, name))).rejects.toThrow(`${path} is missing`);
    await writeFile(path, bytes);
  }
  await expect(readdir(home)).rejects.toThrow('ENOENT');
  await expect(restoreBackup(home, directory)).rejects.toThrow('is no backup');
});

it('a home that has something is left alone, and so is one at another path', async () => {
  const { name } = await writeBackup(job(1), READER);
  add('later');
  await expect(restoreBackup(home, join(directory, name))).rejects.toThrow('already');
  expect(rows()).toEqual(['first', 'later']);
  await expect(restoreBackup(join(root, 'elsewhere'), join(directory, name))).rejects.toThrow(`is one of ${home}`);
});

it('a restore that was cut off while it unpacked is done anew, and takes nothing away that is not its own', async () => {
  const { name } = await writeBackup(job(1), READER);
  await rename(home, join(root, 'away'));
  await mkdir(join(home, '.restoring', 'repos'), { recursive: true });
  await expect(demandWholeRestore(home)).rejects.toThrow('was cut off');
  await mkdir(join(home, 'volumes', 'shop'), { recursive: true });
  await expect(restoreBackup(home, join(directory, name))).rejects.toThrow('has volumes already');
  expect(await readdir(join(home, 'volumes'))).toEqual(['shop']);
  await rename(join(home, 'volumes'), join(root, 'volumes'));
  await restoreBackup(home, join(directory, name));
  expect(rows()).toEqual(['first']);
  await demandWholeRestore(home);
});

itLong('a restore that was cut off while it was put in place goes on, and only that one does', async () => {
  const { name } = await writeBackup(job(1), READER);
  add('second');
  const { name: other } = await writeBackup(job(2), READER);
  await rename(home, join(root, 'away'));
  await restoreBackup(home, join(directory, name));
  const whole = join(home, `.restored-${name}`);
  await mkdir(whole);
  for (const moved of ['tancho.db', 'secret.key']) await rename(join(home, moved), join(whole, moved));
  // Brought there meanwhile.
  await mkdir(join(home, 'volumes'));
  await expect(demandWholeRestore(home)).rejects.toThrow(`A restore of ${name} into ${home} was cut off.`);
  await expect(restoreBackup(home, join(directory, other))).rejects.toThrow(`A restore of ${name} into`);
  await restoreBackup(home, join(directory, name));
  expect(rows()).toEqual(['first']);
  expect((await readdir(home)).sort()).toEqual(['repos', 'secret.key', 'slugs', 'tancho.db', 'volumes']);
});
