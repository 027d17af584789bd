import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { DatabaseKind } from './database.ts';

/**
 * The right side of `column in ...` with the whole list as one parameter: no limit on its length, it may be empty,
 * and the text of the statement stays the same.
 */
export function listOf(kind: DatabaseKind, values: readonly string[]): RawBuilder<string> {
  // Nothing stored has a NUL, so leaving those out changes no answer.
  const possible = values.filter((value) => !value.includes('\0'));
  return kind === 'postgres'
    ? sql<string>`(select unnest(${possible}::text[]))`
    : sql<string>`(select value from json_each(${JSON.stringify(possible)}))`;
}
