import type { RegistryReader, RegistryWriter } from '../../../domain/registries/registry-store.ts';
import type { Scope } from './schema.ts';

export function registryReader({ db, sealer }: Scope): RegistryReader {
  return {
    async registryLogins() {
      const rows = await db.selectFrom('registry_logins').selectAll().orderBy('host').orderBy('team').execute();
      return rows.map(({ host, team, user_name: user, sealed_password, actor: by, created_at: createdAt }) => {
        return { host, team, user, password: sealer.open(sealed_password, context(host, team)), by, createdAt };
      });
    },
  };
}

export function registryWriter({ db, sealer }: Scope): RegistryWriter {
  return {
    async putRegistryLogin({ host, team, user, password, by, createdAt }) {
      const change = {
        user_name: user,
        sealed_password: sealer.seal(password, context(host, team)),
        actor: by,
        created_at: createdAt,
      };
      await db
        .insertInto('registry_logins')
        .values({ host, team, ...change })
        .onConflict((conflict) => conflict.columns(['host', 'team']).doUpdateSet(change))
        .execute();
    },
    async deleteRegistryLogin(host, team) {
      const query = db.deleteFrom('registry_logins').where('host', '=', host).where('team', '=', team);
      return (await query.executeTakeFirst()).numDeletedRows > 0n;
    },
  };
}

function context(host: string, team: string): string {
  return `registry:${host}:${team}`;
}
