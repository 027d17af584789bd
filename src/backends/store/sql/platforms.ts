import type { PlatformReader, PlatformRecord, PlatformWriter } from '../../../domain/platforms/platform-store.ts';
import type { Scope, Tables } from './schema.ts';

export function platformReader({ db }: Scope): PlatformReader {
  return {
    async platformRecord(name) {
      const row = await db.selectFrom('platforms').selectAll().where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : fromRow(row);
    },
    async platformRecords() {
      const rows = await db.selectFrom('platforms').selectAll().orderBy('name').execute();
      return rows.map(fromRow);
    },
  };
}

export function platformWriter({ db }: Scope): PlatformWriter {
  return {
    async putPlatform({ name, definition, isDisabled, createdAt }) {
      const change = { definition, is_disabled: Number(isDisabled), created_at: createdAt };
      await db
        .insertInto('platforms')
        .values({ name, ...change })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(change))
        .execute();
    },
    async deletePlatform(name) {
      await db.deleteFrom('platforms').where('name', '=', name).execute();
    },
  };
}

function fromRow(row: Tables['platforms']): PlatformRecord {
  return {
    name: row.name,
    definition: row.definition,
    isDisabled: row.is_disabled === 1,
    createdAt: row.created_at,
  };
}
