import { expect, it } from 'vitest';
import { app } from '../../backends/store/testing/records.ts';
import { SILENT } from '../../lib/logger.ts';
import { type CertificateRecord, newRecord } from './certificate.ts';
import { PresentableCertificates } from './presentable.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const ISSUED = { key: 'key', notAfter: '2027-01-01T00:00:00.000Z', state: 'issued' } as const;

function issued(id: string, more: Partial<CertificateRecord> = {}): CertificateRecord {
  return { ...newRecord(id, [`${id}.example.com`], '', NOW), ...ISSUED, chain: `chain of ${id}`, ...more };
}

/** `opened`: whose key was asked for. */
function world(...records: readonly CertificateRecord[]) {
  const kept = new Map(records.map((one) => [one.id, one]));
  const opened: string[] = [];
  const reported: unknown[] = [];
  const open = (record: CertificateRecord): CertificateRecord => {
    opened.push(record.id);
    return record;
  };
  const store = {
    apps: async () => [app('shop')],
    certificates: async (ids: readonly string[] = [...kept.keys()]) =>
      [...kept.values()].filter(({ id }) => ids.includes(id)).map(open),
    certificatesWithoutKeys: async () => [...kept.values()].map(({ key: _key, pendingKey: _pending, ...rest }) => rest),
  };
  const logger = { ...SILENT, error: (fields: object) => void reported.push(fields) };
  const common = { store, domain: 'apps.test', now: () => NOW, logger };
  return { kept, opened, reported, common };
}

it('opens a key once, and again only when the certificate is another one', async () => {
  const { kept, opened, common } = world(issued('a'), issued('b'));
  const presentable = new PresentableCertificates(common);
  const first = await presentable.read();
  expect(first.map(({ id, key }) => [id, key])).toEqual([
    ['a', 'key'],
    ['b', 'key'],
  ]);
  kept.set('a', issued('a', { state: 'ordering', problem: 'away', failures: 1 }));
  expect(await presentable.read()).toBe(first);
  expect(opened).toEqual(['a', 'b']);
  kept.set('a', issued('a', { chain: 'the next chain', key: 'the next key' }));
  const next = await presentable.read();
  expect(next.map(({ key }) => key)).toEqual(['the next key', 'key']);
  expect(next[1]).toBe(first[1]);
  expect(opened).toEqual(['a', 'b', 'a']);
  kept.delete('b');
  expect((await presentable.read()).map(({ id }) => id)).toEqual(['a']);
});

it('opens no key of an upload that its app has no name for', async () => {
  const { opened, common } = world(issued('a'), issued('b', { app: 'shop', source: 'upload' }));
  const presentable = new PresentableCertificates(common);
  const first = await presentable.read();
  expect(first.map(({ id }) => id)).toEqual(['a']);
  expect(await presentable.read()).toBe(first);
  expect(opened).toEqual(['a']);
});

it('presents what came first where all are more than an edge takes at once, and says so once', async () => {
  const at = (day: number): string => new Date(NOW.getTime() + day * 86_400_000).toISOString();
  const { kept, reported, common } = world(
    issued('new', { createdAt: at(3) }),
    issued('old', { createdAt: at(1) }),
    issued('next', { createdAt: at(2) }),
  );
  const size = JSON.stringify({ id: 'old', names: ['old.example.com'], chain: 'chain of old', key: 'key' }).length;
  const presentable = new PresentableCertificates({ ...common, room: { tenants: 0, all: 2 * size + 10 } });
  const ids = async (): Promise<string[]> => (await presentable.read()).map(({ id }) => id).sort();
  expect(await ids()).toEqual(['next', 'old']);
  expect(await ids()).toEqual(['next', 'old']);
  expect(reported).toMatchObject([{ certificates: 1, first: [{ id: 'new' }] }]);
  kept.delete('next');
  expect(await ids()).toEqual(['new', 'old']);
});

it('leaves out none of the platform, however new, while there are those of apps', async () => {
  const later = { createdAt: new Date(NOW.getTime() + 86_400_000).toISOString() };
  const operator = issued('wild', { ...later, names: ['*.apps.test'], source: 'upload' });
  const { common } = world(
    issued('own', later),
    operator,
    issued('one', { app: 'shop' }),
    issued('two', { app: 'shop' }),
  );
  const sizes = [operator, issued('own'), issued('one')].map(
    ({ id, names, chain, key }) => JSON.stringify({ id, names, chain, key }).length,
  );
  const all = sizes.reduce((sum, size) => sum + size) + 10;
  const presentable = new PresentableCertificates({ ...common, room: { tenants: 0, all } });
  expect((await presentable.read()).map(({ id }) => id).sort()).toEqual(['own', 'two', 'wild']);
});
