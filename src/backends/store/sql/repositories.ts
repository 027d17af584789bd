import type {
  PackRecord,
  RepositoryReader,
  RepositoryRecord,
  RepositoryWriter,
} from '../../../domain/deploys/repository-store.ts';
import type { RepositoriesTable, Scope } from './schema.ts';

const STRAYS_AT_ONCE = 100;

export function repositoryReader({ db }: Scope): RepositoryReader {
  return {
    async repository(app) {
      const row = await db.selectFrom('repositories').selectAll().where('app', '=', app).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async repositories() {
      const rows = await db.selectFrom('repositories').select('app').orderBy('app').execute();
      return rows.map(({ app }) => app);
    },
    async packPart(app, pack, part) {
      const of = db.selectFrom('repository_packs').select('data').where('app', '=', app).where('pack', '=', pack);
      return (await of.where('part', '=', part).executeTakeFirst())?.data ?? null;
    },
    async strayPacks(before) {
      const old = db.selectFrom('repository_packs').select(['app', 'pack']).where('part', '=', 0);
      const all = await old.where('stored_at', '<', before).execute();
      const kept = new Set<string>();
      for (const { app, packs_json } of await db.selectFrom('repositories').select(['app', 'packs_json']).execute()) {
        for (const { id } of JSON.parse(packs_json) as PackRecord[]) kept.add(`${app} ${id}`);
      }
      return all.filter(({ app, pack }) => !kept.has(`${app} ${pack}`)).slice(0, STRAYS_AT_ONCE);
    },
  };
}

export function repositoryWriter({ db }: Scope): RepositoryWriter {
  return {
    async putRepository({ app, id, version, head, refs, packs, shallow }) {
      const [refs_json, packs_json, shallow_json] = [refs, packs, shallow].map((value) => JSON.stringify(value));
      const change = {
        id,
        version,
        head,
        refs_json: refs_json ?? '',
        packs_json: packs_json ?? '',
        shallow_json: shallow_json ?? '',
      };
      await db
        .insertInto('repositories')
        .values({ app, ...change })
        .onConflict((conflict) => conflict.column('app').doUpdateSet(change))
        .execute();
    },
    async deleteRepository(app) {
      await db.deleteFrom('repositories').where('app', '=', app).execute();
      await db.deleteFrom('repository_packs').where('app', '=', app).execute();
    },
    async putPackPart({ app, pack, part, data, at }) {
      await db.insertInto('repository_packs').values({ app, pack, part, data, stored_at: at }).execute();
    },
    async deletePack(app, pack) {
      await db.deleteFrom('repository_packs').where('app', '=', app).where('pack', '=', pack).execute();
    },
  };
}

function fromRow(row: RepositoriesTable): RepositoryRecord {
  return {
    app: row.app,
    id: row.id,
    version: row.version,
    head: row.head,
    refs: JSON.parse(row.refs_json) as RepositoryRecord['refs'],
    packs: JSON.parse(row.packs_json) as PackRecord[],
    shallow: JSON.parse(row.shallow_json) as string[],
  };
}
