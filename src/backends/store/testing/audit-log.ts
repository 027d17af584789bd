import { expect } from 'vitest';
import { contentOf, type NewLogRow, type Phase } from '../../../domain/audit/log-rows.ts';
import type { StoreCases } from './case.ts';
import { event, LATER } from './records.ts';

const END = { endedAt: LATER, error: '', deploy: '', changes: [] };

function row(index: number, of: string, phase: Phase): NewLogRow {
  return { index, event: of, phase, salt: `salt ${index}`, leaf: `leaf ${index}` };
}

export const auditLogCases: StoreCases = {
  'knows of which events the log does not say all': async (store) => {
    await store.transact(async (tx) => {
      await tx.insertEvent(event('a', { endedAt: '' }));
      await tx.insertEvent(event('b'));
      await tx.insertEvent(event('c', { endedAt: '' }));
    });
    const unlogged = async (limit = 10): Promise<string> =>
      (await store.unloggedEvents(limit)).map((one) => `${one.event.id} ${one.phase}`).join(', ');
    expect([await unlogged(), await unlogged(1)]).toEqual(['a begin, b whole, c begin', 'a begin']);
    expect((await store.unloggedEvents(2))[1]?.event).toEqual(event('b'));
    await store.transact((tx) => tx.appendAuditRows([row(0, 'a', 'begin'), row(1, 'b', 'whole')]));
    expect(await unlogged()).toBe('c begin');
    await store.transact((tx) => tx.endEvent('a', END));
    expect(await unlogged()).toBe('a end, c begin');
    await store.transact((tx) => tx.appendAuditRows([row(2, 'a', 'end')]));
    expect(await unlogged()).toBe('c begin');
  },

  'gives back the rows of the log with what they say, also when the event has ended since': async (store, under) => {
    const begun = event('a', { endedAt: '', token: '' });
    await store.transact(async (tx) => {
      await tx.insertEvent(begun);
      await tx.appendAuditRows([row(0, 'a', 'begin')]);
      await tx.endEvent('a', { ...END, error: 'app.busy', changes: [{ field: 'plan', before: 'x', after: null }] });
      await tx.appendAuditRows([row(1, 'a', 'end')]);
    });
    const other = await under.again();
    const ended = await other.event('a');
    if (ended === null) throw new Error('there is none');
    expect(await other.auditRows(0, 10)).toEqual([
      { index: 0, phase: 'begin', salt: 'salt 0', leaf: 'leaf 0', content: contentOf('begin', begun) },
      { index: 1, phase: 'end', salt: 'salt 1', leaf: 'leaf 1', content: contentOf('end', ended) },
    ]);
    expect((await other.auditRows(1, 1)).map(({ index }) => index)).toEqual([1]);
  },

  'forgets what rows say with their events, and says of which': async (store) => {
    await store.transact(async (tx) => {
      for (const id of ['a', 'b', 'c']) await tx.insertEvent(event(id, { isRefusal: id === 'b' }));
      await tx.appendAuditRows(['a', 'b', 'c'].map((id, index) => row(index, id, 'whole')));
    });
    expect(await store.firstKeptAuditRow()).toBe(0);
    const forget = (refusals: boolean) =>
      store.transact((tx) =>
        refusals
          ? tx.deleteOldRefusals({ keep: 0, batch: 10 })
          : tx.deleteOldEvents({ before: '', keep: 1, batch: 10 }),
      );
    expect(await forget(true)).toEqual({ events: 1, rows: [1] });
    expect(await forget(false)).toEqual({ events: 1, rows: [0] });
    expect(await store.firstKeptAuditRow()).toBe(2);
    expect((await store.auditRows(0, 10)).map(({ leaf, salt, content }) => [leaf, salt, content === null])).toEqual([
      ['leaf 0', '', true],
      ['leaf 1', '', true],
      ['leaf 2', 'salt 2', false],
    ]);
  },

  'keeps the key of the log, its head and what it has signed': async (store, under) => {
    expect([await store.auditHead(), await store.auditKey(), await store.firstKeptAuditRow()]).toEqual([
      null,
      null,
      null,
    ]);
    const key = { origin: 'tancho/audit/x', privateKey: 'a secret key' };
    const head = (size: number) => ({ size, note: `note ${size}`, frontier: [`node ${size}`] });
    await store.transact(async (tx) => {
      await tx.insertAuditKey(key);
      for (const size of [2, 3, 12]) await tx.putAuditHead(head(size));
    });
    const other = await under.again();
    expect(await other.auditKey()).toEqual(key);
    expect(await other.auditHead()).toEqual(head(12));
    const sizes = async (from: number, to: number): Promise<number[]> =>
      (await store.auditCheckpoints(from, to)).map(({ size }) => size);
    expect([await sizes(0, 100), await sizes(2, 12), await sizes(2, 11)]).toEqual([[2, 3, 12], [3, 12], [3]]);
    await store.transact((tx) => tx.deleteAuditCheckpoints(11));
    expect(await sizes(0, 100)).toEqual([3, 12]);
    await store.transact((tx) => tx.deleteAuditCheckpoints(1));
    expect(await sizes(0, 100)).toEqual([3, 12]);
  },
};
