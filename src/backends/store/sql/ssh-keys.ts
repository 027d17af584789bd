import { PlatformError } from '../../../domain/errors.ts';
import type { UserReader, UserWriter } from '../../../domain/users/user-store.ts';
import type { SshKey } from '../../../domain/users/user.ts';
import { needing, userNotFound } from './faults.ts';
import type { Scope, Tables } from './schema.ts';

export function sshKeyReader({ db }: Scope): Pick<UserReader, 'sshKeys' | 'sshKeyByFingerprint'> {
  return {
    async sshKeys(email) {
      const rows = await db.selectFrom('ssh_keys').selectAll().where('email', '=', email).orderBy('name').execute();
      return rows.map(fromRow);
    },
    async sshKeyByFingerprint(fingerprint) {
      const row = await db.selectFrom('ssh_keys').selectAll().where('fingerprint', '=', fingerprint).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
  };
}

export function sshKeyWriter({ db }: Scope): Pick<UserWriter, 'insertSshKey' | 'deleteSshKey'> {
  return {
    async insertSshKey(key) {
      const row: Tables['ssh_keys'] = {
        fingerprint: key.fingerprint,
        email: key.email,
        name: key.name,
        key_text: key.key,
        created_at: key.createdAt,
      };
      const insert = db
        .insertInto('ssh_keys')
        .values(row)
        .onConflict((conflict) => conflict.doNothing());
      const done = await needing(() => userNotFound(key.email), insert.executeTakeFirst());
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('key.taken', 'The key, or a key of that name, is already registered.', {
          hint: 'Remove the other key first, or add this one under another name.',
        });
      }
    },
    async deleteSshKey(email, fingerprint) {
      const done = await db
        .deleteFrom('ssh_keys')
        .where('email', '=', email)
        .where('fingerprint', '=', fingerprint)
        .executeTakeFirst();
      return done.numDeletedRows > 0n;
    },
  };
}

function fromRow(row: Tables['ssh_keys']): SshKey {
  return {
    email: row.email,
    name: row.name,
    fingerprint: row.fingerprint,
    key: row.key_text,
    createdAt: row.created_at,
  };
}
