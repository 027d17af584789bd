/** Keys of an instance, found piece by piece so that Redis answers others meanwhile. */
import type { RedisServer } from './server.ts';

const BATCH = 500;
/** Counting is for information: beyond this many looked-at keys it is not worth the load. */
const MOST_LOOKED_AT = 100_000;

type ScanAnswer = [cursor: string, keys: string[]];

/** As text: the number, or that there are more than were counted. */
export async function countKeys({ call }: RedisServer, prefix: string): Promise<string> {
  let cursor = '0';
  let count = 0;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += BATCH) {
    const [next, keys] = (await call('SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', String(BATCH))) as ScanAnswer;
    count += keys.length;
    cursor = next;
    if (cursor === '0') return String(count);
  }
  return `at least ${count}`;
}

/** Nobody may be writing below the prefix any more. */
export async function deleteKeys({ call }: RedisServer, prefix: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, keys] = (await call('SCAN', cursor, 'MATCH', `${prefix}*`, 'COUNT', String(BATCH))) as ScanAnswer;
    if (keys.length > 0) await call('UNLINK', ...keys);
    cursor = next;
  } while (cursor !== '0');
}
