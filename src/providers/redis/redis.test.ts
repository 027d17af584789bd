import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type TestRedis } from '../../../test/support/redis.ts';
import { NO_REDIS, skipFor } from '../../../test/support/skips.ts';
import { until } from '../../../test/support/until.ts';
import type { BindRequest, CreateRequest } from '../contract.ts';
import { createRedisProvider, type RedisProvider } from './redis.ts';

const servers = new Map<string, TestRedis | null>([
  ['without aclfile', await startRedis()],
  ['with aclfile', await startRedis({ aclFile: true })],
]);
const isMissing = [...servers.values()].includes(null);
afterAll(async () => {
  for (const server of servers.values()) await server?.dispose();
});

const NO_IDS = { instanceId: '', bindingId: '' };
let steps = 0;
const freshKey = (): string => `key-${(steps += 1)}`;

function create(instance: string, more: Partial<CreateRequest> = {}): CreateRequest {
  const common = {
    idempotencyKey: freshKey(),
    ...NO_IDS,
    user: 'ann@example.com',
    fields: new Map(),
    team: 'red',
    plan: '',
  };
  return { ...common, instance, ...more };
}

function bind(instance: string, app = 'shop.example.com', idempotencyKey = freshKey(), bindingId = ''): BindRequest {
  return { instance, app, idempotencyKey, instanceId: '', bindingId, user: '', fields: new Map() };
}

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

  const remove = (instance: string, instanceId = '') =>
    provider.remove({ instance, instanceId, bindingId: '', idempotencyKey: freshKey(), user: '', fields: new Map() });

  async function bound(instance: string, app?: string): Promise<{ redis: Redis; prefix: string; url: string }> {
    const variables = await provider.bind(bind(instance, app));
    const { REDIS_URL: own = '', REDIS_PREFIX: prefix = '' } = variables;
    return { redis: connect(own), prefix, url: own };
  }

  it('bindings of an instance share its keys', async () => {
    await provider.create(create('one'));
    const variables = await provider.bind(bind('one'));
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
    const told = new Promise((resolve) => second.redis.on('message', (_, text) => resolve(text)));
    await second.redis.subscribe(`${second.prefix}news`);
    await first.redis.publish(`${first.prefix}news`, 'hello');
    expect(await told).toBe('hello');
  });

  it('nothing of another instance can be read, changed or listed', async () => {
    await provider.create(create('mine'));
    await provider.create(create('theirs'));
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
    await provider.create(create('polite'));
    const { redis } = await bound('polite');
    for (const asked of ['PING', 'INFO', 'CLIENT SETNAME x', 'CLIENT ID', 'ACL WHOAMI', 'COMMAND COUNT', 'HELLO 3']) {
      const [command = '', ...args] = words(asked);
      await expect(redis.call(command, ...args)).resolves.toBeDefined();
    }
  });

  it('unbinding ends the connections and the user; the keys stay for the next one', async () => {
    await provider.create(create('left'));
    const old = await bound('left');
    await old.redis.set(`${old.prefix}n`, '7');
    const ended = new Promise((resolve) => old.redis.once('end', resolve));
    await provider.unbind(bind('left'));
    await ended;
    await expect(connect(old.url).ping()).rejects.toThrow();
    const next = await bound('left');
    expect(await next.redis.get(`${next.prefix}n`)).toBe('7');
    expect(next.url).not.toBe(old.url);
    await provider.unbind(bind('left'));
    await provider.unbind(bind('left'));
  });

  it('removing deletes its keys, many of them, and no others', async () => {
    await provider.create(create('gone'));
    await provider.create(create('stays'));
    const gone = await bound('gone');
    const stays = await bound('stays');
    await stays.redis.set(`${stays.prefix}n`, '1');
    for (const start of [0, 1_000, 2_000]) {
      const pairs = Array.from({ length: 1_000 }, (_, at) => [`${gone.prefix}${start + at}`, 'x']).flat();
      await gone.redis.mset(...pairs);
    }
    expect(await provider.info('gone')).toContainEqual({ label: 'Keys', value: '3000' });
    await remove('gone');
    const admin = connect(url);
    expect(await admin.keys(`${gone.prefix}*`)).toEqual([]);
    expect(await stays.redis.get(`${stays.prefix}n`)).toBe('1');
    await expect(connect(gone.url).ping()).rejects.toThrow();
    await expect(remove('gone')).rejects.toMatchObject({ code: 'unknown_instance' });
    await expect(provider.status('gone')).rejects.toMatchObject({ code: 'unknown_instance' });
  });

  it('repeats of a step come to the same end, and late twins of undone ones do nothing', async () => {
    const request = create('again');
    await Promise.all([provider.create(request), provider.create(request)]);
    await expect(provider.create(create('again'))).rejects.toMatchObject({ code: 'exists' });
    const step = bind('again');
    const variables = await provider.bind(step);
    expect(await provider.bind(bind('again'))).toEqual(variables);
    const restarted = await createRedisProvider({ url, service });
    expect(await restarted.bind(bind('again'))).toEqual(variables);
    restarted.close();
    await provider.unbind(bind('again'));
    await expect(provider.bind(step)).rejects.toMatchObject({ code: 'exists' });
    await remove('again');
    await expect(provider.create(request)).rejects.toMatchObject({ code: 'exists' });
  });

  it('what is late means what was there when it was sent', async () => {
    await provider.create(create('moved', { instanceId: 'i1' }));
    await provider.unbind(bind('moved', 'a.example.com', freshKey(), 'b0'));
    await expect(provider.bind(bind('moved', 'a.example.com', freshKey(), 'b0'))).rejects.toMatchObject({
      code: 'exists',
    });
    const first = await provider.bind(bind('moved', 'a.example.com', freshKey(), 'b1'));
    await provider.unbind(bind('moved', 'a.example.com', freshKey(), 'b0'));
    expect(await provider.bind(bind('moved', 'a.example.com', freshKey(), 'b2'))).toEqual(first);
    await provider.unbind(bind('moved', 'a.example.com', freshKey(), 'b1'));
    expect(await provider.bind(bind('moved', 'a.example.com', freshKey(), 'b2'))).toEqual(first);
    await expect(remove('moved', 'i0')).rejects.toMatchObject({ code: 'unknown_instance' });
    expect(await provider.status('moved')).toBe('up');
    await remove('moved', 'i1');
    await expect(provider.create(create('moved', { instanceId: 'i0' }))).rejects.toMatchObject({ code: 'exists' });
    await provider.create(create('moved', { instanceId: 'i2' }));
  });

  it('users outlive a restart of Redis', async () => {
    await provider.create(create('steady'));
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
    await provider.create(create('quiet'));
    const { password } = new URL((await bound('quiet')).url);
    const admin = connect(url);
    const all = [await admin.hgetall(`tancho-provider:${service}:bindings`), await admin.call('ACL', 'LIST')];
    expect(JSON.stringify(all)).not.toContain(password);
  });

  it('names the place where apps reach Redis', async () => {
    const other = await createRedisProvider({ url, service: 'elsewhere', appsHost: 'cache.internal:6380' });
    await other.create(create('far'));
    const variables = await other.bind(bind('far'));
    other.close();
    expect(variables).toMatchObject({ REDIS_HOST: 'cache.internal', REDIS_PORT: '6380' });
    expect(new URL(variables['REDIS_URL'] ?? '')).toMatchObject({ host: 'cache.internal:6380', protocol: 'redis:' });
  });

  it('knows its plans', async () => {
    await expect(provider.create(create('odd', { plan: 'huge' }))).rejects.toMatchObject({ code: 'invalid' });
    await provider.create(create('even', { plan: 'shared' }));
    expect(await provider.status('even')).toBe('up');
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
