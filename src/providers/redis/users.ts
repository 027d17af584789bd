/** ACL users of the bindings, and whether they outlive a restart of Redis. */
import { aclRules } from './acl.ts';
import type { BindingRecord, Records } from './records.ts';
import type { RedisServer } from './server.ts';

export interface RedisUsers {
  ensure(binding: BindingRecord, prefix: string): Promise<void>;
  /** Ends the user's connections too. */
  drop(user: string): Promise<void>;
  /** Users of this service that belong to no binding. */
  strays(): Promise<string[]>;
  /** Writes the users to Redis's aclfile, when it has one. */
  save(): Promise<void>;
  /** False: Redis has no `aclfile`, so it forgets users when it restarts, until the provider makes them again. */
  persistent(): boolean;
}

export function createUsers(server: RedisServer, records: Records, service: string): RedisUsers {
  const { call } = server;
  let isPersistent = true;

  async function save(): Promise<void> {
    if (!isPersistent) return;
    try {
      await call('ACL', 'SAVE');
    } catch (error) {
      if (!(error instanceof Error) || !/ACL file/i.test(error.message)) throw error;
      isPersistent = false;
    }
  }

  const set = (binding: BindingRecord, prefix: string): Promise<unknown> =>
    call('ACL', 'SETUSER', binding.user, ...aclRules(binding.passwordHash, prefix, server.version()));

  return {
    async ensure(binding, prefix) {
      await set(binding, prefix);
      await save();
    },
    async drop(user) {
      await call('ACL', 'DELUSER', user);
      await save();
    },
    async strays() {
      // Users first: a record is written before its user is made, and removed after it is gone.
      const all = (await call('ACL', 'USERS')) as string[];
      const wanted = new Set((await records.bindings()).map(({ user }) => user));
      const prefix = userPrefix(service);
      // Those of another service whose name begins like this one's have a dot more.
      const isOurs = (user: string): boolean => user.startsWith(prefix) && !user.slice(prefix.length).includes('.');
      return all.filter((user) => isOurs(user) && !wanted.has(user));
    },
    save,
    persistent: () => isPersistent,
  };
}

export function userPrefix(service: string): string {
  return `tancho.${service}.`;
}
