import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { backupSetOf, copyIntoSet, endUpgrade, listBackupSets, restoreBackupSet } from './backup-sets.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'backups-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

function write(name: string, word: string): DatabaseSync {
  const database = new DatabaseSync(join(home, name));
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS words (word TEXT)');
  database.prepare('INSERT INTO words VALUES (?)').run(word);
  return database;
}

function words(file: string): unknown[] {
  const database = new DatabaseSync(file);
  const found = database.prepare('SELECT word FROM words ORDER BY rowid').all();
  database.close();
  return found.map((row) => row['word']);
}

const at = (second: number): string => backupSetOf(home, new Date(Date.UTC(2026, 0, 1, 0, 0, second)));

it('a copy has what is still in the write-ahead log, and belongs to its owner only', async () => {
  const open = write('tancho.db', 'one');
  await copyIntoSet(at(1), join(home, 'tancho.db'), 'tancho.db');
  open.close();
  expect(words(join(at(1), 'tancho.db'))).toEqual(['one']);
  expect((await stat(join(at(1), 'tancho.db'))).mode & 0o777).toBe(0o600);
  expect((await stat(at(1))).mode & 0o777).toBe(0o700);
  expect(await listBackupSets(home)).toEqual([{ name: '20260101T000001000Z', files: ['tancho.db'] }]);
});

it('a copy that fails leaves nothing', async () => {
  await writeFile(join(home, 'tancho.db'), 'no database '.repeat(1000));
  await expect(copyIntoSet(at(1), join(home, 'tancho.db'), 'tancho.db')).rejects.toThrow('not a database');
  expect(await readdir(join(home, 'backups'))).toEqual([]);
});

it('the newest three are kept', async () => {
  write('tancho.db', 'one').close();
  expect(await listBackupSets(home)).toEqual([]);
  for (const second of [1, 2, 3, 4, 5]) {
    await copyIntoSet(at(second), join(home, 'tancho.db'), 'tancho.db');
    await endUpgrade(home);
  }
  expect((await listBackupSets(home)).map(({ name }) => name.slice(13, 15))).toEqual(['05', '04', '03']);
});

it('starts that go on with an upgrade add to its set what is missing, and neither replace nor remove what is in it', async () => {
  for (const name of ['tancho.db', 'logs.db']) write(name, 'before').close();
  await copyIntoSet(at(1), join(home, 'tancho.db'), 'tancho.db');
  write('tancho.db', 'half').close();
  for (const second of [2, 3, 4, 5]) {
    for (const name of ['logs.db', 'tancho.db']) await copyIntoSet(at(second), join(home, name), name);
  }
  const sets = await listBackupSets(home);
  expect(sets).toEqual([{ name: '20260101T000001000Z', files: ['logs.db', 'tancho.db'] }]);
  expect(words(join(at(1), 'tancho.db'))).toEqual(['before']);
  for (const set of sets) await restoreBackupSet(home, set);
  // Gone back: what comes next is another upgrade.
  await copyIntoSet(at(6), join(home, 'tancho.db'), 'tancho.db');
  expect((await listBackupSets(home)).map(({ name }) => name.slice(13, 15))).toEqual(['06', '01']);
});

it('going back keeps what it replaces, and no write-ahead log of it is taken for the restored one', async () => {
  write('tancho.db', 'before').close();
  write('logs.db', 'logs').close();
  await copyIntoSet(at(1), join(home, 'tancho.db'), 'tancho.db');
  // Left as a kill leaves it: the newest change is in the write-ahead log only.
  const open = write('tancho.db', 'after');
  const [set] = await listBackupSets(home);
  if (set === undefined) throw new Error('there is no set');
  await restoreBackupSet(home, set);
  open.close();
  expect(words(join(home, 'tancho.db'))).toEqual(['before']);
  expect(words(join(home, 'logs.db'))).toEqual(['logs']);
  expect(words(join(home, 'backups', 'replaced', 'tancho.db'))).toEqual(['before', 'after']);
  await restoreBackupSet(home, set);
  expect(words(join(home, 'backups', 'replaced', 'tancho.db'))).toEqual(['before']);
  expect((await readdir(home)).sort()).toEqual(['backups', 'logs.db', 'tancho.db']);
});

it('a set with a damaged copy replaces nothing', async () => {
  for (const name of ['tancho.db', 'logs.db']) write(name, 'before').close();
  for (const name of ['tancho.db', 'logs.db']) await copyIntoSet(at(1), join(home, name), name);
  for (const name of ['tancho.db', 'logs.db']) write(name, 'after').close();
  await writeFile(join(at(1), 'tancho.db'), 'no database '.repeat(1000));
  const [set] = await listBackupSets(home);
  if (set === undefined) throw new Error('there is no set');
  await expect(restoreBackupSet(home, set)).rejects.toThrow('not a database');
  for (const name of ['tancho.db', 'logs.db']) expect(words(join(home, name))).toEqual(['before', 'after']);
});
