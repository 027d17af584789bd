/**
 * PostgreSQL databases as a service: a database and a role that owns what is in it per instance, a login of its own per
 * binding. Owns the order of the steps; the catalog says how far each one got.
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
import { freshIdentifier, identifierOf } from '../identifier.ts';
import { createSealedPasswords, newPassword, type SealedPasswords } from '../sealed-passwords.ts';
import * as catalog from './catalog.ts';
import { dropDatabase, ensureDatabase } from './databases.ts';
import { instanceFacts, instanceStatus } from './facts.ts';
import { plansFor, type PostgresPlan, postgresPlan } from './plans.ts';
import { dropLogin, dropRole, ensureRole } from './roles.ts';
import { scramVerifier } from './scram.ts';
import { literal, type PostgresServer, type Query, quoted } from './server.ts';

export interface PostgresOptions {
  /** Of a role that may create databases and roles. */
  readonly url: string;
  /** Name of the service: providers of different names share a server without knowing of each other. */
  readonly service: string;
  /** host[:port] at which apps reach the server, when it is another than the provider's. */
  readonly appsHost?: string;
}

export interface PostgresProvider extends ProviderHandlers {
  /** Databases that let every role in, those of the bindings too. */
  openDatabases(): Promise<string[]>;
  close(): Promise<void>;
}

export async function createPostgresProvider(options: PostgresOptions): Promise<PostgresProvider> {
  const name = identifierOf(options.service, 'catalog');
  const { server, salt } = await catalog.openCatalog(options.url, name);
  const passwords = await createSealedPasswords(decodeURIComponent(new URL(options.url).password), salt);
  return new Provider(server, passwords, options);
}

class Provider implements PostgresProvider {
  readonly #server: PostgresServer;
  readonly #passwords: SealedPasswords;
  readonly #options: PostgresOptions;
  readonly #queue = new KeyedQueue();

  constructor(server: PostgresServer, passwords: SealedPasswords, options: PostgresOptions) {
    this.#server = server;
    this.#passwords = passwords;
    this.#options = options;
  }

  async plans() {
    return (await this.#plans()).map(({ name, description }) => ({ name, description }));
  }

  #plans(): Promise<readonly PostgresPlan[]> {
    return this.#server.home(async (query) => {
      const [row] = await query(`SELECT current_setting('max_connections')::int AS most`);
      return plansFor(Number(row?.['most']));
    });
  }

  async create(request: CreateRequest): Promise<void> {
    const { instance: id, instanceId: uid, idempotencyKey: key, team, user } = request;
    const plan = postgresPlan(request.plan, await this.#plans());
    await this.#alone(id, async (query) => {
      let found = await catalog.findInstance(query, id);
      if (found !== null && (key === '' || found.key !== key || found.state === 'removing')) throw instanceExists(id);
      if (found === null) {
        if (await catalog.wasUndone(query, key, uid)) throw stepUndone();
        const database = freshIdentifier(this.#options.service, id);
        await query(
          `INSERT INTO public.instances (id, key, uid, plan, database, owner, state, team, created_by)
           VALUES ($1, $2, $3, $4, $5, $6, 'creating', $7, $8)`,
          [id, key, uid, plan.name, database, `${database}_own`, team, user],
        );
        found = await catalog.findInstance(query, id);
      }
      if (found === null) throw unknownInstance(id);
      if (found.state === 'ready') return;
      await ensureRole(query, found.owner, 'NOLOGIN');
      await ensureDatabase(this.#server, query, found, postgresPlan(found.plan).connections);
      await catalog.setInstanceState(query, id, 'ready');
    });
  }

  info(id: string): Promise<readonly ProviderFact[]> {
    return this.#server.home(async (query) => instanceFacts(query, await instanceOf(query, id)));
  }

  status(id: string): Promise<ProviderStatus> {
    return this.#server.home(async (query) => instanceStatus(query, await instanceOf(query, id)));
  }

  bind(request: BindRequest): Promise<Readonly<Record<string, string>>> {
    const { instance: id, app, bindingId: uid, idempotencyKey: key } = request;
    return this.#alone(id, async (query) => {
      const instance = await instanceOf(query, id);
      if (instance.state !== 'ready') throw notReady(id, instance.state);
      let binding = (await catalog.bindingsOf(query, id)).find((one) => one.app === app);
      if (binding?.state === 'removing') throw notReady(id, 'being unbound from this app');
      if (await catalog.wasUndone(query, key, uid)) throw stepUndone();
      if (binding === undefined) {
        const login = freshIdentifier(this.#options.service, id, app);
        const sealed = this.#passwords.seal(newPassword(), login);
        await query(
          `INSERT INTO public.bindings (instance, app, key, uid, login, sealed, state)
           VALUES ($1, $2, $3, $4, $5, $6, 'making')`,
          [id, app, key, uid, login, sealed],
        );
        binding = { app, key, uid, login, sealed, state: 'making' };
      } else if (isAnother(uid, binding.uid)) {
        // The platform has forgotten the one before; nothing that is late may take this one away.
        await query('UPDATE public.bindings SET uid = $2 WHERE login = $1', [binding.login, uid]);
      }
      return this.#variables(instance, binding.login, await this.#ensureLogin(query, instance, binding));
    });
  }

  /** The password of the binding's role, which exists afterwards. */
  async #ensureLogin(query: Query, instance: catalog.InstanceRow, binding: catalog.BindingRow): Promise<string> {
    const { login } = binding;
    const kept = this.#passwords.open(binding.sealed, login);
    if (binding.state === 'ready' && kept !== null) return kept;
    const password = kept ?? newPassword();
    const verifier = await scramVerifier(password);
    await ensureRole(query, login, `LOGIN PASSWORD ${literal(verifier)}`);
    await query(`GRANT ${quoted(instance.owner)} TO ${quoted(login)}`);
    // What a binding makes belongs to the instance, so that the next binding can use and change it.
    await query(
      `ALTER ROLE ${quoted(login)} IN DATABASE ${quoted(instance.database)} SET role TO ${quoted(instance.owner)}`,
    );
    await query(`UPDATE public.bindings SET state = 'ready', sealed = $2 WHERE login = $1`, [
      login,
      this.#passwords.seal(password, login),
    ]);
    return password;
  }

  #variables(instance: catalog.InstanceRow, login: string, password: string): Record<string, string> {
    const url = new URL(this.#options.url);
    url.username = login;
    url.password = password;
    url.pathname = `/${instance.database}`;
    if (this.#options.appsHost !== undefined) url.host = this.#options.appsHost;
    return {
      DATABASE_URL: url.href,
      PGHOST: bareHost(url),
      PGPORT: url.port === '' ? '5432' : url.port,
      PGUSER: login,
      PGPASSWORD: password,
      PGDATABASE: instance.database,
    };
  }

  unbind({ instance: id, app, bindingId }: BindRequest): Promise<void> {
    return this.#alone(id, async (query) => {
      await catalog.rememberUndone(query, bindingId);
      const instance = await instanceOf(query, id);
      const binding = (await catalog.bindingsOf(query, id)).find((one) => one.app === app);
      if (binding === undefined || isAnother(bindingId, binding.uid)) return;
      await this.#removeBinding(query, instance, binding);
    });
  }

  async #removeBinding(query: Query, instance: catalog.InstanceRow, binding: catalog.BindingRow): Promise<void> {
    const { login } = binding;
    await query(`UPDATE public.bindings SET state = 'removing' WHERE login = $1`, [login]);
    await catalog.rememberUndone(query, binding.key);
    await dropLogin(this.#server, query, { login, heir: instance.owner, database: instance.database });
    await query('DELETE FROM public.bindings WHERE login = $1', [login]);
  }

  remove({ instance: id, instanceId }: ProviderCall & { instance: string }): Promise<void> {
    return this.#alone(id, async (query) => {
      await catalog.rememberUndone(query, instanceId);
      const instance = await instanceOf(query, id);
      if (isAnother(instanceId, instance.uid)) throw unknownInstance(id);
      await catalog.setInstanceState(query, id, 'removing');
      await catalog.rememberUndone(query, instance.key);
      const bindings = await catalog.bindingsOf(query, id);
      for (const { login } of bindings)
        await query(`UPDATE public.bindings SET state = 'removing' WHERE login = $1`, [login]);
      await dropDatabase(query, instance.database);
      for (const binding of bindings) await this.#removeBinding(query, instance, binding);
      await dropRole(this.#server, query, instance.owner);
      await query('DELETE FROM public.instances WHERE id = $1', [id]);
    });
  }

  openDatabases(): Promise<string[]> {
    return this.#server.home(async (query) => {
      const rows = await query(
        `SELECT datname AS name FROM pg_database d WHERE datallowconn AND has_database_privilege('public', d.oid, 'CONNECT')
         ORDER BY datname`,
      );
      return rows.map((row) => catalog.textOf(row, 'name'));
    });
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  /** One change of an instance at a time, also with another provider process on the same server. */
  #alone<T>(id: string, work: (query: Query) => Promise<T>): Promise<T> {
    const key = createHash('sha256').update(id).digest().readInt32BE();
    return this.#queue.run(id, () =>
      this.#server.home(async (query) => {
        await query('SELECT pg_advisory_lock(1, $1)', [key]);
        try {
          return await work(query);
        } finally {
          // A session that is broken has lost the lock with it.
          await query('SELECT pg_advisory_unlock(1, $1)', [key]).catch(() => undefined);
        }
      }),
    );
  }
}

async function instanceOf(query: Query, id: string): Promise<catalog.InstanceRow> {
  const instance = await catalog.findInstance(query, id);
  if (instance === null) throw unknownInstance(id);
  return instance;
}

function notReady(id: string, state: string): ProviderError {
  return new ProviderError(
    'not_ready',
    `The instance "${id}" is ${state === 'creating' ? 'not complete yet' : state}.`,
  );
}
