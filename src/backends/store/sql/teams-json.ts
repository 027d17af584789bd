/** Teams of a row as a column of it. Joined, the whole row would come once for each of its teams, of which there may be hundreds. */
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../../../sql/database.ts';

/** `of`: tables and columns, as `app_teams.app` and `apps.name`; `isOwner` where the table tells those that own it from others. */
export function teamsJson(
  kind: DatabaseKind,
  of: { readonly named: string; readonly row: string; readonly isOwner?: boolean },
): RawBuilder<string> {
  const [table = ''] = of.named.split('.');
  // As a text: JSON within other JSON (groupText) is a part of that where SQLite keeps it, which not every version does.
  const list = kind === 'postgres' ? sql`coalesce(json_agg(team), '[]')::text` : sql`json_group_array(team) || ''`;
  const rows = sql`${sql.table(table)} where ${sql.ref(of.named)} = ${sql.ref(of.row)}`;
  const those = of.isOwner === undefined ? rows : sql`${rows} and is_owner = ${sql.lit(Number(of.isOwner))}`;
  return sql<string>`(select ${list} from ${those})`;
}

/** Sorted. */
export function teamsIn(json: string): string[] {
  return (JSON.parse(json) as string[]).sort();
}
