/** Names in the provider's own server for names that people chose: readable, safe everywhere, never the same for two. */
import { createHash } from 'node:crypto';
import { randomHex } from '../lib/ids.ts';

const READABLE = 24;
const HASH = 16;

/** `tancho_shop_db_0f3a...`: at most 50 characters, `a-z0-9_` only. The same names give the same identifier. */
export function identifierOf(...names: readonly string[]): string {
  const readable = (names.at(-1) ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+/, '')
    .slice(0, READABLE)
    .replace(/_+$/, '');
  const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, HASH);
  return ['tancho', readable, hash].filter((part) => part !== '').join('_');
}

/** Of one binding: never used again, so that nothing that is late meets its successor. */
export function freshIdentifier(...names: readonly string[]): string {
  return `${identifierOf(...names)}_${randomHex(8)}`;
}
