/** The bundled providers are killed at any moment, in the middle of many calls: repeats come to the same end, and nothing is left. */
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../support/postgres.ts';
import { type ProviderProcess, startProviderProcess } from '../support/provider-process.ts';
import { startRedis } from '../support/redis.ts';
import { skipFor } from '../support/skips.ts';
import { type HttpAnswer, request } from '../support/world.ts';

const KILL_AFTER_MS = [5, 20, 45, 80, 130, 200];
const INSTANCES = 4;

const database = await createTestDatabase();
const redis = await startRedis();
afterAll(async () => {
  await database?.dispose();
  await redis?.dispose();
});

interface Server {
  readonly url: string;
  /** Whether what a binding was given works. */
  works(variables: Readonly<Record<string, string>>): Promise<boolean>;
  /** What there is on the server that belongs to instances and bindings. */
  left(): Promise<unknown[]>;
}

async function rowsOf(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function commanded<T>(url: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

const servers: Readonly<Record<string, Server>> = {
  postgres: {
    url: database?.url ?? '',
    works: ({ DATABASE_URL: url = '' }) => rowsOf(url, 'SELECT 1').then(Boolean),
    left: () =>
      rowsOf(
        database?.url ?? '',
        `SELECT rolname AS name FROM pg_roles WHERE rolname LIKE 'tancho\\_%' UNION
         SELECT datname FROM pg_database WHERE datname LIKE 'tancho\\_%'
           AND datname NOT LIKE 'tancho\\_test%' AND datname NOT LIKE 'tancho\\_catalog%'`,
      ),
  },
  redis: {
    url: redis?.url ?? '',
    works: ({ REDIS_URL: url = '', REDIS_PREFIX: prefix = '' }) =>
      commanded(url, async (client) => (await client.set(`${prefix}n`, '1')) === 'OK'),
    left: () =>
      commanded(redis?.url ?? '', async (client) => [
        ...((await client.call('ACL', 'USERS')) as string[]).filter((name) => name !== 'default'),
        ...(await client.keys('tancho_*')),
        ...(await client.hkeys('tancho-provider:redis:instances')),
        ...(await client.hkeys('tancho-provider:redis:bindings')),
      ]),
  },
};

describe.each(Object.keys(servers))('%s', (kind) => {
  const isMissing = servers[kind]?.url === '';

  it('keeps its promises', skipFor(isMissing && `there is no ${kind} on this machine`), async () => {
    const server = servers[kind];
    if (server === undefined) throw new Error(kind);
    const provider = await startProviderProcess(kind, server.url);
    try {
      for (const [round, killAfterMs] of KILL_AFTER_MS.entries()) {
        const names = Array.from({ length: INSTANCES }, (_, at) => `db-${round}-${at}`);
        const lives = names.map((name, at) => life(provider, name, at % 2 === 0));
        const killed = new Promise((resolve) => setTimeout(resolve, killAfterMs)).then(() => provider.end('SIGKILL'));
        await Promise.all([...lives, killed]);
        await provider.startAgain();
        for (const name of names) await finish(provider, server, name);
      }
      expect(await server.left()).toEqual([]);
    } finally {
      await provider.end('SIGKILL');
    }
  });
});

type Step = readonly [method: string, path: string, body: string, key: string];

function send({ url, username, password }: ProviderProcess, [method, path, body, key]: Step): Promise<HttpAnswer> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return request(url, method, path, { headers: { authorization, 'idempotency-key': key }, body });
}

const create = (name: string): Step => ['POST', '/resources', `name=${name}`, `${name}:create`];
const bind = (name: string, app: string): Step => [
  'POST',
  `/resources/${name}/bind-app`,
  `app-host=${app}.example.com`,
  `${name}:${app}`,
];
const unbind = (name: string, app: string): Step => {
  return ['DELETE', `/resources/${name}/bind-app`, `app-host=${app}.example.com`, `${name}:${app}:unbind`];
};
const remove = (name: string): Step => ['DELETE', `/resources/${name}`, '', `${name}:remove`];

/** One step after the other until the provider is gone. */
async function life(provider: ProviderProcess, name: string, removes: boolean): Promise<void> {
  const steps = [create(name), bind(name, 'a'), bind(name, 'b'), unbind(name, 'a'), ...(removes ? [remove(name)] : [])];
  for (const step of steps) {
    const answer = await send(provider, step).catch(() => null);
    if (answer === null) return;
    expect([step.slice(0, 2), answer.status]).toEqual([step.slice(0, 2), step[0] === 'POST' ? 201 : 200]);
  }
}

/** What somebody does who does not know how far it came. */
async function finish(provider: ProviderProcess, server: Server, name: string): Promise<void> {
  const again = await send(provider, create(name));
  // 409: it was being removed, or had been.
  expect([201, 409]).toContain(again.status);
  if (again.status === 201) {
    const bound = await send(provider, bind(name, 'c'));
    expect([bound.status, await server.works(bound.json())]).toEqual([201, true]);
    for (const app of ['a', 'b', 'c']) expect((await send(provider, unbind(name, app))).status).toBe(200);
    await expect(server.works(bound.json())).rejects.toThrow();
  }
  expect([200, 404]).toContain((await send(provider, remove(name))).status);
  expect((await send(provider, remove(name))).status).toBe(404);
}
