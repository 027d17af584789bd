import { PlatformError } from '../../../domain/errors.ts';
import type { UserReader, UserWriter } from '../../../domain/users/user-store.ts';
import type { User } from '../../../domain/users/user.ts';
import { userNotFound } from './faults.ts';
import type { Scope, Tables } from './schema.ts';

type Users = 'user' | 'users' | 'firstAdmin';

export function userReader({ db }: Scope): Pick<UserReader, Users> {
  return {
    async user(email) {
      const row = await db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async users() {
      return (await db.selectFrom('users').selectAll().orderBy('email').execute()).map(fromRow);
    },
    async firstAdmin() {
      const row = await db
        .selectFrom('users')
        .selectAll()
        .where('is_admin', '=', 1)
        .orderBy('created_at')
        .orderBy('email')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
  };
}

export function userWriter({
  db,
}: Scope): Pick<UserWriter, 'insertUser' | 'updatePassword' | 'setAdmin' | 'deleteUser'> {
  return {
    async insertUser(user) {
      const row: Tables['users'] = {
        email: user.email,
        password_hash: user.passwordHash,
        is_admin: Number(user.isAdmin),
        created_at: user.createdAt,
      };
      const done = await db
        .insertInto('users')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (done.numInsertedOrUpdatedRows !== 1n) {
        throw new PlatformError('user.email_taken', `There is already a user ${user.email}.`, {
          hint: 'Log in, or register with another e-mail.',
        });
      }
    },
    async updatePassword(email, passwordHash) {
      const done = await db
        .updateTable('users')
        .set({ password_hash: passwordHash })
        .where('email', '=', email)
        .executeTakeFirst();
      if (done.numUpdatedRows === 0n) throw userNotFound(email);
    },
    async setAdmin(email, isAdmin) {
      const change = { is_admin: Number(isAdmin) };
      const done = await db.updateTable('users').set(change).where('email', '=', email).executeTakeFirst();
      if (done.numUpdatedRows === 0n) throw userNotFound(email);
    },
    async deleteUser(email) {
      await db.deleteFrom('users').where('email', '=', email).execute();
    },
  };
}

function fromRow(row: Tables['users']): User {
  return {
    email: row.email,
    passwordHash: row.password_hash,
    isAdmin: row.is_admin === 1,
    createdAt: row.created_at,
  };
}
