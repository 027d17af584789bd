import { expect, it } from 'vitest';
import type { EnvVar } from '../apps/app.ts';
import { boundServices } from './bound-services.ts';

function bound(vars: Record<string, string>, managedBy = 'orders'): EnvVar[] {
  return Object.entries(vars).map(([name, value]) => ({ name, value, public: false, managedBy }));
}

it.each<[Record<string, string>, string[]]>([
  [{ DATABASE_URL: 'postgres://ann:s:e@db.internal:5433/shop?ssl=no' }, ['db.internal:5433']],
  [{ DATABASE_URL: 'postgresql+asyncpg://ann@127.0.0.1/shop' }, ['127.0.0.1:5432']],
  [{ MONGO_URL: 'mongodb://a:b@10.0.0.1:27018,10.0.0.2/x' }, ['10.0.0.1:27018', '10.0.0.2:27017']],
  [{ PGHOST: '127.0.0.1', PGPORT: '5432', PGUSER: 'ann' }, ['127.0.0.1:5432']],
  [{ REDIS_HOST: '10.1.1.1', REDIS_PORT: '6380' }, ['10.1.1.1:6380']],
  [{ KAFKA_BROKERS: 'k1:9092, k2:9092' }, ['k1:9092', 'k2:9092']],
  [{ DATABASE_URL: 'postgres://ann@db/shop', DB_HOST: 'db', DB_PORT: '5432' }, ['db:5432']],
  [{ URL: 'unknown://host/x', PASSWORD: 'a:b', TIME: '10:30:00', NAME: 'shop', PGHOST: '127.0.0.1' }, []],
  [{ URL: 'http://127.0.0.1:99999/', OTHER: 'http://[::1]:80/' }, []],
])('%j names %j', (vars, expected) => {
  expect(boundServices(bound(vars)).map(({ host, port }) => `${host}:${port}`)).toEqual(expected);
});

it('does not count what the app itself has set', () => {
  expect(boundServices(bound({ DATABASE_URL: 'postgres://127.0.0.1:5432/x' }, ''))).toEqual([]);
});

it('names at most a hundred', () => {
  const many = Array.from({ length: 300 }, (_, index) => `10.0.${index % 250}.1:${1000 + index}`).join(',');
  expect(boundServices(bound({ NODES: many }))).toHaveLength(100);
});
