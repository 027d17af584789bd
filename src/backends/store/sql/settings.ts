import type { SettingReader, SettingWriter } from '../../../domain/store.ts';
import type { Scope } from './schema.ts';

export function settingReader({ db }: Scope): SettingReader {
  return {
    async setting(key) {
      const row = await db.selectFrom('settings').select('value').where('key', '=', key).executeTakeFirst();
      return row?.value ?? null;
    },
  };
}

export function settingWriter({ db }: Scope): SettingWriter {
  return {
    async setSetting(key, value) {
      await db
        .insertInto('settings')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    },
  };
}
