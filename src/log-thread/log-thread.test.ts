import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { createSqlLogStore } from '../backends/log-store/sql/index.ts';
import type { LogStore } from '../domain/logs/log-store.ts';
import type { Carried } from '../domain/logs/output-carrier.ts';
import { SILENT } from '../lib/logger.ts';
import { secretForms } from '../lib/redact.ts';
import { LogThread } from './log-thread.ts';
import { itLong } from '../../test/support/long-cases.ts';

let directory: string;
let store: LogStore;
let thread: LogThread;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-log-thread-'));
  const options = { kind: 'sqlite', file: join(directory, 'logs.db') } as const;
  thread = new LogThread(options, SILENT);
  store = thread.writing(await createSqlLogStore(options, { logger: SILENT }));
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Several pieces of a file as it is read. */
const CALM_LINES = 6_000;

interface Printing {
  readonly path: string;
  readonly stop: AbortController;
  readonly die: () => void;
  readonly reported: { entries: number; cursors: string[] };
  readonly carried: Promise<Carried>;
}

function printing(app: string, { secrets = [] as string[], text = '', from = 0, index = 0 } = {}): Printing {
  const path = join(directory, `${app}-${index}-output`);
  writeFileSync(path, text, { flag: 'a' });
  const stop = new AbortController();
  const { promise: gone, resolve: die } = Promise.withResolvers<void>();
  const reported: Printing['reported'] = { entries: 0, cursors: [] };
  const carried = thread.carry({
    unit: { id: index === 0 ? `unit-of-${app}` : `unit-${index}-of-${app}`, app, index, process: 'web', release: 1 },
    forms: secretForms(secrets),
    before: '',
    file: { path, from, gone },
    onStored: async (entries, cursor) => {
      reported.entries += entries;
      reported.cursors.push(cursor);
    },
    signal: stop.signal,
  });
  carried.catch(() => undefined);
  return { path, stop, die, reported, carried };
}

const messages = async (app: string): Promise<string[]> =>
  (await store.query({ app, lines: 0 })).map(({ message }) => message);

it('carries what a unit prints until it is gone, and reports all of it', async () => {
  const unit = printing('shop', { text: 'one\ntwo\n' });
  await until(async () => (await messages('shop')).length === 2, { what: 'the first lines' });
  appendFileSync(unit.path, 'three\nand a half');
  unit.die();
  expect(await unit.carried).toEqual({ before: '', failure: null });
  expect(await messages('shop')).toEqual(['one', 'two', 'three', 'and a half']);
  const [entry] = await store.query({ app: 'shop', lines: 1 });
  expect(entry).toMatchObject({ unit: 'shop/0', unitId: 'unit-of-shop', source: 'web', release: 1 });
  expect(unit.reported.entries).toBe(4);
  expect(unit.reported.cursors.at(-1)).toBe(await store.cursor('unit-of-shop'));
});

it('replaces private values, across the pieces of a line, too', async () => {
  const unit = printing('shop', { secrets: ['opensesame'], text: 'it is opensesame\nsecond half of opens' });
  await until(async () => (await messages('shop')).length === 2, { what: 'the piece that has no end yet' });
  appendFileSync(unit.path, 'esame, and more\n');
  unit.die();
  await unit.carried;
  expect(await messages('shop')).toEqual(['it is ***', 'second half of ***', '***, and more']);
});

it('stops where it is asked to, and what comes next goes on from there', async () => {
  const first = printing('shop', { text: 'one\n' });
  await until(async () => (await messages('shop')).length === 1, { what: 'the first line' });
  first.stop.abort();
  await first.carried;
  const from = Number(await store.cursor('unit-of-shop'));
  const second = printing('shop', { text: 'two\n', from });
  second.die();
  await second.carried;
  expect(await messages('shop')).toEqual(['one', 'two']);
});

it('does what else changes the log, with the answers and errors of the store', async () => {
  const unit = printing('shop', { text: 'one\n' });
  await until(async () => (await messages('shop')).length === 1, { what: 'the first line' });
  expect(thread.isRunning).toBe(true);
  const entry = {
    seq: 0,
    at: '2026-01-01T00:00:00.000Z',
    app: 'blog',
    source: 'app',
    unit: 'api',
    unitId: '',
    release: 0,
  };
  const [stored] = await store.append([{ ...entry, message: 'noted' }]);
  expect(stored).toMatchObject({ app: 'blog', message: 'noted' });
  await expect(store.append([{ ...entry, source: 'a\0b', message: 'x' }])).rejects.toMatchObject({
    code: 'input.invalid',
  });
  await store.removeApp('blog');
  expect(await messages('blog')).toEqual([]);
  unit.die();
  await unit.carried;
});

itLong('gives each app its turn, however many units of another one print', async () => {
  const line = `${'much '.repeat(20)}\n`;
  const loud = Array.from({ length: 6 }, (_, index) => printing('loud', { index, text: line.repeat(20_000) }));
  await until(async () => (await messages('loud')).length > 0, { what: 'the first of the loud ones' });
  const calm = printing('calm', { text: line.repeat(CALM_LINES) });
  calm.die();
  await calm.carried;
  const seqs = (await store.query({ app: 'calm', lines: 0 })).map(({ seq }) => seq);
  expect(seqs).toHaveLength(CALM_LINES);
  const between = (seqs.at(-1) ?? 0) - (seqs[0] ?? 0) + 1 - CALM_LINES;
  // Turn about, piece by piece: all six together get about as much as the one of the other app, and not six times as much.
  expect(between).toBeGreaterThan(0);
  expect(between).toBeLessThan(3 * CALM_LINES);
  for (const unit of loud) unit.stop.abort();
  await Promise.all(loud.map((unit) => unit.carried));
});

it('that is lost loses nothing: whoever was carried hears of it, and the store says where to go on', async () => {
  const lines = Array.from({ length: 50_000 }, (_, n) => `line ${n}`);
  const unit = printing('shop', { text: `${lines.join('\n')}\n` });
  await until(async () => (await store.cursor('unit-of-shop')) !== null, { what: 'some of it' });
  unit.stop.abort();
  await unit.carried;
  await thread.end();
  expect(thread.isRunning).toBe(false);
  const from = Number(await store.cursor('unit-of-shop'));
  const next = printing('shop', { from });
  next.die();
  await next.carried;
  expect(await messages('shop')).toEqual(lines);
});
