/** The connection to the Redis that the provider stands in front of. */
import { Redis } from 'ioredis';
import { ProviderError } from '../contract.ts';
import type { RedisVersion } from './acl.ts';

const COMMAND_MS = 10_000;
const CONNECT_MS = 5_000;
const LONGEST_PAUSE_MS = 2_000;

export interface RedisServer {
  /** Sends one command; throws ProviderError `unavailable` when Redis does not answer. */
  call(command: string, ...args: readonly string[]): Promise<unknown>;
  version(): RedisVersion;
  /** Called after every new connection, the first one excepted. */
  onReconnect(again: () => void): void;
  close(): void;
}

export async function connectRedis(url: string): Promise<RedisServer> {
  // Bindings may not leave database 0.
  const first = new URL(url);
  first.pathname = '/';
  const redis = new Redis(first.href, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    maxRetriesPerRequest: 1,
    retryStrategy: (attempt) => Math.min(attempt * 100, LONGEST_PAUSE_MS),
    connectionName: 'tancho-provider',
  });
  // Every command that fails for it rejects, so its caller hears of it.
  redis.on('error', () => undefined);
  const call = async (command: string, ...args: readonly string[]): Promise<unknown> => {
    try {
      return await redis.call(command, ...args);
    } catch (error) {
      throw translated(error);
    }
  };
  try {
    await redis.connect().catch((error: unknown) => {
      throw translated(error);
    });
    const version = versionOf(String(await call('INFO', 'server')));
    return {
      call,
      version: () => version,
      onReconnect: (again) => void redis.on('ready', again),
      close: () => redis.disconnect(),
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

function versionOf(info: string): RedisVersion {
  const [, major = '0', minor = '0'] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  if (Number(major) < 6) throw new Error('Redis 6 or later is needed: older ones have no ACLs.');
  return { major: Number(major), minor: Number(minor) };
}

/** What Redis itself answered is passed on as it is; it names commands and rules, never values. */
function translated(error: unknown): unknown {
  if (error instanceof Error && error.name === 'ReplyError') return error;
  return new ProviderError('unavailable', 'Redis cannot be reached or is too busy.', error);
}
