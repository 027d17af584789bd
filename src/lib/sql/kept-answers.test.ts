import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeptAnswers } from './kept-answers.ts';
import { sqliteDialect } from './sqlite-dialect.ts';
import { availableSqliteDrivers, openSqliteFile } from './sqlite-file.ts';
import type { SqliteHandle, SqliteRow } from './sqlite-file.ts';

interface Tables {
  t: { id: number; word: string };
}

const ROWS = 100;
const LIST = 'SELECT id, word FROM t ORDER BY id';

let folder = '';
let own: SqliteHandle;
let other: SqliteHandle;

describe.each(availableSqliteDrivers())('kept answers by %s', (driver) => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tancho-kept-'));
    const open = () => openSqliteFile({ file: join(folder, 'a.db'), synchronous: 'NORMAL', driver });
    own = await open();
    own.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT NOT NULL)');
    const insert = own.prepare('INSERT INTO t (id, word) VALUES (?, ?)');
    for (let id = 0; id < ROWS; id++) insert.run([id, 'old']);
    other = await open();
  });
  afterEach(async () => {
    own.close();
    other.close();
    await rm(folder, { recursive: true });
  });

  /** A read that counts how often the database was asked. */
  function counted(answers: KeptAnswers, text = LIST): { read: () => readonly SqliteRow[]; asked: () => number } {
    let asked = 0;
    const ask = (): SqliteRow[] => {
      asked += 1;
      return own.prepare(text).all([]);
    };
    return { read: () => answers.read(text, [], ask), asked: () => asked };
  }

  test('the database is asked once while nothing is written', () => {
    const { read, asked } = counted(new KeptAnswers(own));
    expect(read()).toHaveLength(ROWS);
    expect(read()).toBe(read());
    expect(asked()).toBe(1);
    expect(() => Object.assign(read()[0] ?? {}, { word: 'spoilt' })).toThrow(TypeError);
  });

  test('what another connection has committed is seen at once, what it has not is not', () => {
    const { read } = counted(new KeptAnswers(own));
    read();
    other.exec('BEGIN IMMEDIATE');
    other.exec("UPDATE t SET word = 'new' WHERE id = 7");
    expect(read()[7]).toMatchObject({ word: 'old' });
    other.exec('COMMIT');
    expect(read()[7]).toMatchObject({ word: 'new' });
  });

  test('short answers are not kept', () => {
    const { read, asked } = counted(new KeptAnswers(own), 'SELECT id FROM t WHERE id < 3');
    read();
    read();
    expect(asked()).toBe(2);
  });

  test('more rows than the bound are not kept, and answers are told apart by what was bound', () => {
    const answers = new KeptAnswers(own);
    const many = (count: number) => () => Array.from({ length: count }, (_, id) => ({ id }));
    expect(answers.read('s', [1], many(4_001))).not.toBe(answers.read('s', [1], many(4_001)));
    const kept = answers.read('s', [1], many(50));
    expect(answers.read('s', ['1'], many(60))).toHaveLength(60);
    expect(answers.read('s', [1], many(0))).toBe(kept);
  });

  test('through Kysely: own writes, transactions and what they undo are seen', async () => {
    const db = new Kysely<Tables>({ dialect: sqliteDialect(own, { keepsAnswers: true }) });
    const words = async (from: Kysely<Tables> = db): Promise<Set<string>> =>
      new Set((await from.selectFrom('t').selectAll().execute()).map((row) => row.word));
    expect(await words()).toEqual(new Set(['old']));
    await db.updateTable('t').set({ word: 'new' }).execute();
    expect(await words()).toEqual(new Set(['new']));
    await sql`UPDATE t SET word = 'raw'`.execute(db);
    expect(await words()).toEqual(new Set(['raw']));
    const undone = db.transaction().execute(async (tx) => {
      expect(await words(tx)).toEqual(new Set(['raw']));
      await tx.updateTable('t').set({ word: 'undone' }).returning('id').execute();
      expect(await words(tx)).toEqual(new Set(['undone']));
      throw new Error('never mind');
    });
    await expect(undone).rejects.toThrow('never mind');
    expect(await words()).toEqual(new Set(['raw']));
  });
});
