/**
 * Redis as a service: a key prefix per instance, an ACL user of its own per binding. Apps that are bound to one instance
 * share its keys, as they share a database; nothing else is theirs. One provider process per Redis and service.
 */
import { createHash } from 'node:crypto';
import { bareHost } from '../../lib/host-port.ts';
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import {
  type BindRequest,
  type CreateRequest,
  instanceExists,
  isAnother,
  type ProviderCall,
  ProviderError,
  type ProviderFact,
  type ProviderHandlers,
  type ProviderStatus,
  stepUndone,
  unknownInstance,
} from '../contract.ts';
import { freshIdentifier } from '../identifier.ts';
import { createSealedPasswords, newPassword, type SealedPasswords } from '../sealed-passwords.ts';
import { countKeys, deleteKeys } from './keys.ts';
import { type BindingRecord, createRecords, type InstanceRecord, type Records } from './records.ts';
import { connectRedis, type RedisServer } from './server.ts';
import { createUsers, userPrefix, type RedisUsers } from './users.ts';

export interface RedisOptions {
  /** Of a user who may do everything. */
  readonly url: string;
  readonly service: string;
  /** host[:port] at which apps reach the server, when it is another than the provider's. */
  readonly appsHost?: string;
  readonly log?: (line: string) => void;
}

export interface RedisProvider extends ProviderHandlers {
  /** What the operator should know about this Redis; [] when all is well. */
  warnings(): Promise<string[]>;
  close(): void;
}

const PLANS = [{ name: 'shared', description: 'Keys below a prefix of its own on a shared Redis' }];

export async function createRedisProvider(options: RedisOptions): Promise<RedisProvider> {
  const server = await connectRedis(options.url);
  try {
    const records = createRecords(server, options.service);
    const users = createUsers(server, records, options.service);
    const loginPassword = decodeURIComponent(new URL(options.url).password);
    const passwords = await createSealedPasswords(loginPassword, await records.salt());
    const provider = new Provider(server, records, users, passwords, options);
    await provider.restore();
    const log = options.log ?? (() => {});
    server.onReconnect(() => {
      provider.restore().catch((error: unknown) => log(`restoring the users: ${String(error)}`));
    });
    return provider;
  } catch (error) {
    server.close();
    throw error;
  }
}

class Provider implements RedisProvider {
  readonly #server: RedisServer;
  readonly #records: Records;
  readonly #users: RedisUsers;
  readonly #passwords: SealedPasswords;
  readonly #options: RedisOptions;
  readonly #queue = new KeyedQueue();

  constructor(
    server: RedisServer,
    records: Records,
    users: RedisUsers,
    passwords: SealedPasswords,
    options: RedisOptions,
  ) {
    this.#server = server;
    this.#records = records;
    this.#users = users;
    this.#passwords = passwords;
    this.#options = options;
  }

  async plans() {
    return PLANS;
  }

  create({ instance: id, instanceId: uid, idempotencyKey: key, plan, team }: CreateRequest): Promise<void> {
    return this.#queue.run(id, async () => {
      if (plan !== '' && !PLANS.some(({ name }) => name === plan)) {
        throw new ProviderError('invalid', `There is no plan "${plan}"; there is ${PLANS[0]?.name ?? ''}.`);
      }
      const found = await this.#records.instance(id);
      if (found !== null && (key === '' || found.key !== key || found.state === 'removing')) throw instanceExists(id);
      if (found !== null) return;
      if (await this.#records.wasUndone(key, uid)) throw stepUndone();
      const prefix = `${freshIdentifier(this.#options.service, id)}:`;
      await this.#records.saveInstance({ id, key, uid, plan: plan || 'shared', prefix, state: 'ready', team });
    });
  }

  async info(id: string): Promise<readonly ProviderFact[]> {
    const { plan, prefix, state } = await this.#instance(id);
    const bound = (await this.#records.bindings()).filter(({ instance }) => instance === id);
    return [
      { label: 'State', value: state },
      { label: 'Plan', value: plan },
      { label: 'Prefix', value: prefix },
      { label: 'Keys', value: await countKeys(this.#server, prefix) },
      { label: 'Bound apps', value: String(bound.length) },
    ];
  }

  async status(id: string): Promise<ProviderStatus> {
    const { state } = await this.#instance(id);
    return state === 'ready' ? 'up' : 'down';
  }

  bind({
    instance: id,
    app,
    bindingId: uid,
    idempotencyKey: key,
  }: BindRequest): Promise<Readonly<Record<string, string>>> {
    return this.#queue.run(id, async () => {
      const instance = await this.#instance(id);
      if (instance.state !== 'ready') {
        throw new ProviderError('not_ready', `The instance "${id}" is being removed.`);
      }
      const found = await this.#records.binding(id, app);
      if (await this.#records.wasUndone(key, uid)) throw stepUndone();
      const kept = found === null ? null : this.#passwords.open(found.sealed, found.user);
      const password = kept ?? newPassword();
      const user = found?.user ?? userPrefix(this.#options.service) + freshIdentifier(id, app);
      const binding: BindingRecord = {
        instance: id,
        app,
        key: found?.key ?? key,
        uid: uid || (found?.uid ?? ''),
        user,
        passwordHash: createHash('sha256').update(password).digest('hex'),
        sealed: this.#passwords.seal(password, user),
      };
      await this.#records.saveBinding(binding);
      await this.#users.ensure(binding, instance.prefix);
      return this.#variables(instance, user, password);
    });
  }

  #variables({ prefix }: InstanceRecord, user: string, password: string): Record<string, string> {
    const url = new URL(this.#options.url);
    url.username = user;
    url.password = password;
    url.pathname = '/';
    if (this.#options.appsHost !== undefined) url.host = this.#options.appsHost;
    return {
      REDIS_URL: url.href.replace(/\/$/, ''),
      REDIS_HOST: bareHost(url),
      REDIS_PORT: url.port === '' ? '6379' : url.port,
      REDIS_USERNAME: user,
      REDIS_PASSWORD: password,
      REDIS_PREFIX: prefix,
    };
  }

  unbind({ instance: id, app, bindingId }: BindRequest): Promise<void> {
    return this.#queue.run(id, async () => {
      await this.#records.rememberUndone(bindingId);
      await this.#instance(id);
      const binding = await this.#records.binding(id, app);
      if (binding !== null && !isAnother(bindingId, binding.uid)) await this.#removeBinding(binding);
    });
  }

  async #removeBinding(binding: BindingRecord): Promise<void> {
    await this.#records.rememberUndone(binding.key);
    await this.#users.drop(binding.user);
    await this.#records.dropBinding(binding);
  }

  remove({ instance: id, instanceId }: ProviderCall & { instance: string }): Promise<void> {
    return this.#queue.run(id, async () => {
      await this.#records.rememberUndone(instanceId);
      const instance = await this.#instance(id);
      if (isAnother(instanceId, instance.uid)) throw unknownInstance(id);
      await this.#records.saveInstance({ ...instance, state: 'removing' });
      await this.#records.rememberUndone(instance.key);
      const bindings = await this.#records.bindings();
      for (const binding of bindings) if (binding.instance === id) await this.#removeBinding(binding);
      await deleteKeys(this.#server, instance.prefix);
      await this.#records.dropInstance(id);
    });
  }

  /** Makes the users what the records say: after a restart of Redis, or of the provider. */
  async restore(): Promise<void> {
    for (const { instance: id, app } of await this.#records.bindings()) {
      await this.#queue.run(id, async () => {
        const [instance, binding] = [await this.#records.instance(id), await this.#records.binding(id, app)];
        if (instance?.state === 'ready' && binding !== null) await this.#users.ensure(binding, instance.prefix);
      });
    }
    for (const user of await this.#users.strays()) await this.#users.drop(user);
    await this.#users.save();
  }

  async warnings(): Promise<string[]> {
    const found: string[] = [];
    if (!this.#users.persistent()) {
      found.push('Redis has no aclfile: after a restart of it the users are missing until this provider reconnects.');
    }
    const anonymous = (await this.#server.call('ACL', 'GETUSER', 'default')) as unknown[];
    const flags = anonymous[anonymous.indexOf('flags') + 1];
    if (Array.isArray(flags) && flags.includes('on') && flags.includes('nopass')) {
      found.push('Redis lets everybody in without a password (user default): apps are not kept apart from each other.');
    }
    return found;
  }

  close(): void {
    this.#server.close();
  }

  async #instance(id: string): Promise<InstanceRecord> {
    const instance = await this.#records.instance(id);
    if (instance === null) throw unknownInstance(id);
    return instance;
  }
}
