/** Use cases of SSH keys (specification 4.7, /users/keys): a pusher is recognised by the fingerprint. */
import type { Act } from '../act.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { AccountStore } from './account-store.ts';
import { demandPlace, MOST } from '../bounds.ts';
import { demandUser } from './demand-user.ts';
import { type ParsedKey, parseSshKey } from './ssh-keys.ts';
import type { SshKey } from './user.ts';

const ONLY_USERS = 'Only a user has SSH keys.';
const KEY_NAME = /^[^\p{C}]{1,100}$/u;

export interface SshKeys {
  addKey(caller: Caller, input: { key: unknown; name?: unknown; force?: unknown }): Promise<SshKey>;
  /** By key text or by name. */
  removeKey(caller: Caller, input: { key?: unknown; name?: unknown }): Promise<void>;
  keys(caller: Caller): Promise<SshKey[]>;
}

export function createKeys(deps: { store: AccountStore; act: Act; now: () => Date }): SshKeys {
  const { store, act, now } = deps;

  return {
    async addKey(caller, input) {
      const { email } = demandUser(caller, 'key.add', ONLY_USERS);
      return act(caller, 'key.add', { email }, { target: `user:${email}` }, async () => {
        const parsed = parseSshKey(input.key);
        const wanted = wantedName(input.name);
        const createdAt = now().toISOString();
        return store.transact(async (tx) => {
          const own = await tx.sshKeys(email);
          const name = wanted ?? freeName(parsed, own);
          const isReplaced = (old: SshKey): boolean => old.name === name || old.fingerprint === parsed.fingerprint;
          const replaced = input.force === true ? own.filter(isReplaced) : [];
          for (const { fingerprint } of replaced) await tx.deleteSshKey(email, fingerprint);
          demandPlace(own.length - replaced.length, MOST.sshKeysOfUser, {
            plural: 'SSH keys of a user',
            hint: 'Remove one that is not needed: tancho key list, tancho key remove <name>',
          });
          const key: SshKey = { email, name, fingerprint: parsed.fingerprint, key: parsed.key, createdAt };
          await tx.insertSshKey(key);
          return key;
        });
      });
    },

    async removeKey(caller, input) {
      const { email } = demandUser(caller, 'key.remove', ONLY_USERS);
      await act(caller, 'key.remove', { email }, { target: `user:${email}` }, async () => {
        const isWanted = matcher(input);
        await store.transact(async (tx) => {
          const key = (await tx.sshKeys(email)).find(isWanted);
          if (key === undefined) {
            throw new PlatformError('key.not_found', 'User does not have this key', {
              hint: 'List the keys to see their names.',
            });
          }
          await tx.deleteSshKey(email, key.fingerprint);
        });
      });
    },

    async keys(caller) {
      const { email } = demandUser(caller, 'key.list', ONLY_USERS);
      return store.sshKeys(email);
    },
  };
}

function wantedName(name: unknown): string | null {
  if (name === undefined || name === null || name === '') return null;
  if (typeof name === 'string' && KEY_NAME.test(name)) return name;
  throw new PlatformError('key.invalid', 'The name of a key has 1 to 100 printable characters.', {
    hint: 'Choose a short name, or leave it out.',
  });
}

/** The key's comment while it is free, as ssh-keygen puts the machine's name there; otherwise `key-<n>`. */
function freeName(parsed: ParsedKey, own: readonly SshKey[]): string {
  const taken = new Set(own.map((key) => key.name));
  if (KEY_NAME.test(parsed.comment) && !taken.has(parsed.comment)) return parsed.comment;
  let n = own.length + 1;
  while (taken.has(`key-${n}`)) n += 1;
  return `key-${n}`;
}

function matcher(input: { key?: unknown; name?: unknown }): (key: SshKey) => boolean {
  if (typeof input.key === 'string' && input.key !== '') {
    const { fingerprint } = parseSshKey(input.key);
    return (key) => key.fingerprint === fingerprint;
  }
  if (typeof input.name === 'string' && input.name !== '') return (key) => key.name === input.name;
  throw new PlatformError('key.invalid', 'Either the content or the name of the key must be provided', {
    hint: 'Send the field "key" or the field "name".',
  });
}
