import type { EnvVar } from '../../../domain/apps/app.ts';
import type { AppReader, AppWriter } from '../../../domain/apps/app-store.ts';
import { listOf } from '../../../sql/list-of.ts';
import { appNotFound, needing } from './faults.ts';
import type { EnvTable, Scope } from './schema.ts';

export function envReader({ db, sealer }: Scope): Pick<AppReader, 'env'> {
  return {
    async env(app) {
      const rows = await db.selectFrom('env').selectAll().where('app', '=', app).orderBy('name').execute();
      return rows.map((row): EnvVar => ({
        name: row.name,
        value: sealer.open(row.sealed_value, context(row.app, row.name)),
        public: row.is_public === 1,
        managedBy: row.managed_by,
      }));
    },
  };
}

export function envWriter({ db, kind, sealer }: Scope): Pick<AppWriter, 'setEnv' | 'unsetEnv'> {
  return {
    async setEnv(app, vars) {
      // One statement must not meet a name twice; the last one counts.
      const last = new Map(vars.map((variable) => [variable.name, variable]));
      const rows = [...last.values()].map((variable): EnvTable => ({
        app,
        name: variable.name,
        sealed_value: sealer.seal(variable.value, context(app, variable.name)),
        is_public: Number(variable.public),
        managed_by: variable.managedBy,
      }));
      for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
        const upsert = db
          .insertInto('env')
          .values(rows.slice(from, from + ROWS_PER_STATEMENT))
          .onConflict((conflict) =>
            conflict.columns(['app', 'name']).doUpdateSet((row) => ({
              sealed_value: row.ref('excluded.sealed_value'),
              is_public: row.ref('excluded.is_public'),
              managed_by: row.ref('excluded.managed_by'),
            })),
          );
        await needing(() => appNotFound(app), upsert.execute());
      }
    },
    async unsetEnv(app, names) {
      await db.deleteFrom('env').where('app', '=', app).where('name', 'in', listOf(kind, names)).execute();
    },
  };
}

/** Keeps the number of parameters far below the limits of both databases. */
const ROWS_PER_STATEMENT = 500;

function context(app: string, name: string): string {
  return `env:${app}:${name}`;
}
