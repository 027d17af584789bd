import { SealError } from '../../../lib/seal.ts';
import type { Scope } from './schema.ts';

const KEY = 'store.seal-check';
const CONTEXT = 'seal-check';

/** Notices at start, rather than at the first deploy, that the key file does not belong to this database. */
export async function checkSeal({ db, sealer }: Scope, where: string): Promise<void> {
  const stored = () => db.selectFrom('settings').select('value').where('key', '=', KEY).executeTakeFirst();
  let row = await stored();
  if (row === undefined) {
    await db
      .insertInto('settings')
      .values({ key: KEY, value: sealer.seal('ok', CONTEXT) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    row = await stored();
  }
  try {
    sealer.open(row?.value ?? '', CONTEXT);
  } catch (error) {
    throw new SealError(`The secrets in the database ${where} were sealed with another key than the key file holds.`, {
      cause: error,
    });
  }
}
