import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../../../test/support/redis.ts';
import { NO_REDIS, skipFor } from '../../../test/support/skips.ts';
import { until } from '../../../test/support/until.ts';
import { bindOf, createOf, providerConformance, removalOf } from '../conformance.ts';
import { createRedisProvider, type RedisProvider } from './redis.ts';

const servers = new Map<string, TestRedis | null>([
  ['without aclfile', await startRedis()],
  ['with aclfile', await startRedis({ aclFile: true })],
]);
const isMissing = [...servers.values()].includes(null);
afterAll(async () => {
  for (const server of servers.values()) await server?.dispose();
});

const opened: Redis[] = [];
afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});

function connect(url: string): Redis {
  const redis = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0, connectTimeout: 2_000 });
  redis.on('error', () => undefined);
  opened.push(redis);
  return redis;
}

describe.each([...servers.keys()])('%s', skipFor(isMissing && NO_REDIS), (kind) => {
  const url = servers.get(kind)?.url ?? '';
  const service = 'cache';
  let provider: RedisProvider;
  beforeAll(async () => {
    provider = await createRedisProvider({ url, service });
  });
  afterAll(() => provider.close());

  providerConformance(
    'shared',
    () => provider,
    () => createRedisProvider({ url, service }),
  );

  async function bound(instance: string, app?: string): Promise<{ redis: Redis; prefix: string; url: string }> {
    const variables = await provider.bind(bindOf(instance, app));
    const { REDIS_URL: own = '', REDIS_PREFIX: prefix = '' } = variables;
    return { redis: connect(own), prefix, url: own };
  }

  it('bindings of an instance share its keys', async () => {
    await provider.create(createOf('one'));
    const variables = await provider.bind(bindOf('one'));
    expect(Object.keys(variables).sort()).toEqual([
      'REDIS_HOST',
      'REDIS_PASSWORD',
      'REDIS_PORT',
      'REDIS_PREFIX',
      'REDIS_URL',
      'REDIS_USERNAME',
    ]);
    const first = await bound('one');
    const second = await bound('one', 'other.example.com');
    expect(first.url).not.toBe(second.url);
    expect(first.prefix).toBe(second.prefix);
    await first.redis.set(`${first.prefix}n`, '42');
    expect(await second.redis.get(`${second.prefix}n`)).toBe('42');
    expect(await second.redis.eval('return redis.call("get", KEYS[1])', 1, `${second.prefix}n`)).toBe('42');
    const reported = new Promise((resolve) => second.redis.on('message', (_, text) => resolve(text)));
    await second.redis.subscribe(`${second.prefix}news`);
    await first.redis.publish(`${first.prefix}news`, 'hello');
    expect(await reported).toBe('hello');
  });

  it('nothing of another instance can be read, changed or listed', async () => {
    await provider.create(createOf('mine'));
    await provider.create(createOf('theirs'));
    const mine = await bound('mine');
    const theirs = await bound('theirs');
    await theirs.redis.set(`${theirs.prefix}secret`, 'x');
    const foreign = `${theirs.prefix}secret`;
    const refused: string[][] = [
      ['GET', foreign],
      ['SET', foreign, '1'],
      ['DEL', foreign],
      ['RENAME', `${mine.prefix}a`, foreign],
      ['EVAL', `return redis.call('get', '${foreign}')`, '0'],
      ['EVAL', `return redis.call('scan', '0')`, '0'],
      ['SUBSCRIBE', `${theirs.prefix}news`],
      ['PSUBSCRIBE', '*'],
      ['PUBLISH', `${theirs.prefix}news`, 'x'],
      ...['KEYS *', 'SCAN 0', 'RANDOMKEY', 'DBSIZE', 'FLUSHALL', 'FLUSHDB', 'SELECT 1', 'SWAPDB 0 1'].map(words),
      ...['MONITOR', 'SLOWLOG GET', 'CLIENT LIST', 'CLIENT KILL TYPE normal', 'CLIENT TRACKING ON BCAST'].map(words),
      ...['CONFIG GET *', 'ACL LIST', 'ACL SETUSER default', 'SHUTDOWN', 'SAVE', 'ROLE'].map(words),
      ...['PUBSUB CHANNELS', 'SCRIPT FLUSH', 'FUNCTION LIST', 'MODULE LIST', 'LATENCY DOCTOR', 'MEMORY STATS'].map(
        words,
      ),
      ['COPY', `${mine.prefix}a`, `${mine.prefix}b`, 'DB', '1'],
      ['MOVE', `${mine.prefix}a`, '1'],
      ['HGETALL', `tancho-provider:${service}:bindings`],
    ];
    for (const [command = '', ...args] of refused) {
      const outcome = await mine.redis.call(command, ...args).then(
        () => 'done',
        (error: Error) => error.message,
      );
      expect([command, ...args, outcome].join(' ')).toMatch(
        / (?:NOPERM .*|ERR The user executing the script can't .*)$/,
      );
    }
    expect(await theirs.redis.get(foreign)).toBe('x');
  });

  it('what ordinary clients ask when they connect is answered', async () => {
    await provider.create(createOf('polite'));
    const { redis } = await bound('polite');
    for (const asked of ['PING', 'INFO', 'CLIENT SETNAME x', 'CLIENT ID', 'ACL WHOAMI', 'COMMAND COUNT', 'HELLO 3']) {
      const [command = '', ...args] = words(asked);
      await expect(redis.call(command, ...args)).resolves.toBeDefined();
    }
  });

  it('unbinding ends the connections and the user; the keys stay for the next one', async () => {
    await provider.create(createOf('left'));
    const old = await bound('left');
    await old.redis.set(`${old.prefix}n`, '7');
    const ended = new Promise((resolve) => old.redis.once('end', resolve));
    await provider.unbind(bindOf('left'));
    await ended;
    await expect(connect(old.url).ping()).rejects.toThrow();
    const next = await bound('left');
    expect(await next.redis.get(`${next.prefix}n`)).toBe('7');
    expect(next.url).not.toBe(old.url);
    await provider.unbind(bindOf('left'));
  });

  it('removing deletes its keys, many of them, and no others', async () => {
    await provider.create(createOf('gone'));
    await provider.create(createOf('stays'));
    const gone = await bound('gone');
    const stays = await bound('stays');
    await stays.redis.set(`${stays.prefix}n`, '1');
    for (const start of [0, 1_000, 2_000]) {
      const pairs = Array.from({ length: 1_000 }, (_, at) => [`${gone.prefix}${start + at}`, 'x']).flat();
      await gone.redis.mset(...pairs);
    }
    expect(await provider.info('gone')).toContainEqual({ label: 'Keys', value: '3000' });
    await provider.remove(removalOf('gone'));
    const admin = connect(url);
    expect(await admin.keys(`${gone.prefix}*`)).toEqual([]);
    expect(await stays.redis.get(`${stays.prefix}n`)).toBe('1');
    await expect(connect(gone.url).ping()).rejects.toThrow();
  });

  it('users outlive a restart of Redis', async () => {
    await provider.create(createOf('steady'));
    const { url: own, prefix, redis } = await bound('steady');
    await redis.set(`${prefix}n`, '1');
    await servers.get(kind)?.restart();
    await until(
      () =>
        connect(own)
          .get(`${prefix}n`)
          .then(
            (value) => value === '1',
            () => false,
          ),
      { what: 'the binding to work again' },
    );
    expect((await provider.warnings()).some((text) => text.includes('aclfile'))).toBe(kind === 'without aclfile');
  });

  it('users that belong to no binding are removed at the start', async () => {
    const admin = connect(url);
    await admin.call('ACL', 'SETUSER', `tancho.${service}.stray`, 'on', '>x', '~*', '+@all');
    await admin.call('ACL', 'SETUSER', `tancho.${service}.two.other`, 'on', '>x', '~*', '+@all');
    await admin.call('ACL', 'SETUSER', 'somebody', 'on', '>x', '~*', '+@all');
    const restarted = await createRedisProvider({ url, service });
    restarted.close();
    const users = await admin.call('ACL', 'USERS');
    expect(users).not.toContain(`tancho.${service}.stray`);
    expect(users).toContain('somebody');
    expect(users).toContain(`tancho.${service}.two.other`);
  });

  it('no password lies about in Redis', async () => {
    await provider.create(createOf('quiet'));
    const { password } = new URL((await bound('quiet')).url);
    const admin = connect(url);
    const all = [await admin.hgetall(`tancho-provider:${service}:bindings`), await admin.call('ACL', 'LIST')];
    expect(JSON.stringify(all)).not.toContain(password);
  });

  it('names the place where apps reach Redis', async () => {
    const other = await createRedisProvider({ url, service: 'elsewhere', appsHost: 'cache.internal:6380' });
    await other.create(createOf('far'));
    const variables = await other.bind(bindOf('far'));
    other.close();
    expect(variables).toMatchObject({ REDIS_HOST: 'cache.internal', REDIS_PORT: '6380' });
    expect(new URL(variables['REDIS_URL'] ?? '')).toMatchObject({ host: 'cache.internal:6380', protocol: 'redis:' });
  });
});

function words(text: string): string[] {
  return text.split(' ');
}

it('says that nobody is there', async () => {
  await expect(createRedisProvider({ url: 'redis://127.0.0.1:1', service: 'x' })).rejects.toMatchObject({
    code: 'unavailable',
  });
});
