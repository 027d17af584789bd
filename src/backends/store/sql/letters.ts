import type { LetterReader, LetterWriter } from '../../../domain/users/letter-store.ts';
import type { Scope } from './schema.ts';

export function letterReader({ db, sealer }: Scope): LetterReader {
  return {
    async letterNames() {
      const rows = await db.selectFrom('letters').select('name').orderBy('name').execute();
      return rows.map(({ name }) => name);
    },
    async letter(name) {
      const row = await db.selectFrom('letters').select('sealed_text').where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : sealer.open(row.sealed_text, context(name));
    },
  };
}

export function letterWriter({ db, sealer }: Scope): LetterWriter {
  return {
    async insertLetter({ name, text }, kept) {
      await db
        .insertInto('letters')
        .values({ name, sealed_text: sealer.seal(text, context(name)) })
        .execute();
      const oldest = await db
        .selectFrom('letters')
        .select('name')
        .orderBy('name', 'desc')
        .offset(kept)
        .limit(1)
        .execute();
      const [first] = oldest;
      if (first !== undefined) await db.deleteFrom('letters').where('name', '<=', first.name).execute();
    },
  };
}

function context(name: string): string {
  return `letter:${name}`;
}
