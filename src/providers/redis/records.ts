/** What the provider knows, in the same Redis below a prefix of its own that no binding can reach. */
import { newSalt } from '../sealed-passwords.ts';
import type { RedisServer } from './server.ts';

const UNDONE_SECONDS = 7 * 24 * 3600;

export interface InstanceRecord {
  readonly id: string;
  /** Idempotency key of its creation. */
  readonly key: string;
  readonly plan: string;
  /** The platform's own id of it; '' when none was sent. */
  readonly uid: string;
  /** Every key of the instance begins with it. */
  readonly prefix: string;
  readonly state: 'ready' | 'removing';
  readonly team: string;
}

export interface BindingRecord {
  readonly instance: string;
  readonly app: string;
  readonly key: string;
  readonly uid: string;
  readonly user: string;
  /** SHA-256, as Redis keeps it. */
  readonly passwordHash: string;
  readonly sealed: string;
}

export interface Records {
  salt(): Promise<string>;
  instance(id: string): Promise<InstanceRecord | null>;
  saveInstance(instance: InstanceRecord): Promise<void>;
  dropInstance(id: string): Promise<void>;
  instances(): Promise<InstanceRecord[]>;
  bindings(): Promise<BindingRecord[]>;
  binding(instance: string, app: string): Promise<BindingRecord | null>;
  saveBinding(binding: BindingRecord): Promise<void>;
  dropBinding(binding: BindingRecord): Promise<void>;
  /** For a week. */
  rememberUndone(key: string): Promise<void>;
  wasUndone(...keys: readonly string[]): Promise<boolean>;
}

export function createRecords({ call }: RedisServer, service: string): Records {
  const at = (name: string): string => `tancho-provider:${service}:${name}`;
  const field = (instance: string, app: string): string => JSON.stringify([instance, app]);
  const read = async <T>(hash: string, name: string): Promise<T | null> => {
    const text = await call('HGET', at(hash), name);
    return typeof text === 'string' ? (JSON.parse(text) as T) : null;
  };
  const readAll = async <T>(hash: string): Promise<T[]> =>
    ((await call('HVALS', at(hash))) as string[]).map((text) => JSON.parse(text) as T);
  return {
    async salt() {
      await call('SET', at('salt'), newSalt(), 'NX');
      return String(await call('GET', at('salt')));
    },
    instance: (id) => read('instances', id),
    saveInstance: async (instance) => void (await call('HSET', at('instances'), instance.id, JSON.stringify(instance))),
    dropInstance: async (id) => void (await call('HDEL', at('instances'), id)),
    instances: () => readAll('instances'),
    bindings: () => readAll('bindings'),
    binding: (instance, app) => read('bindings', field(instance, app)),
    saveBinding: async (binding) =>
      void (await call('HSET', at('bindings'), field(binding.instance, binding.app), JSON.stringify(binding))),
    dropBinding: async ({ instance, app }) => void (await call('HDEL', at('bindings'), field(instance, app))),
    rememberUndone: async (key) => {
      if (key !== '') await call('SET', at(`undone:${key}`), '1', 'EX', String(UNDONE_SECONDS));
    },
    async wasUndone(...keys) {
      const given = keys.filter((key) => key !== '').map((key) => at(`undone:${key}`));
      return given.length > 0 && (await call('EXISTS', ...given)) !== 0;
    },
  };
}
