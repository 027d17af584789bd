/**
 * What was made of rows that are read as a whole again and again, of which few differ from the last time. They come as one text for each group,
 * made by the database: of a text that is the same nothing is made anew, so thousands of objects do not become garbage with each look.
 */
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../../../sql/database.ts';

interface GroupText {
  readonly name: string;
  readonly text: string;
}

/** To be selected beside what is grouped by: the columns of all rows of a group, in no order. */
export function groupText(kind: DatabaseKind, columns: readonly string[]): RawBuilder<string> {
  const row = sql.join(columns.map((column) => sql.ref(column)));
  return kind === 'postgres'
    ? sql<string>`json_agg(json_build_array(${row}))::text`
    : sql<string>`json_group_array(json_array(${row}))`;
}

/** The rows again. */
export function rowsOf<Row>(text: string, columns: readonly string[]): Row[] {
  const rows = JSON.parse(text) as unknown[][];
  return rows.map((values) => Object.fromEntries(columns.map((column, at) => [column, values[at]])) as Row);
}

export class KnownGroups<T> {
  readonly #make: (text: string) => readonly T[];
  readonly #known = new Map<string, { readonly text: string; readonly made: readonly T[] }>();

  constructor(make: (text: string) => readonly T[]) {
    this.#make = make;
  }

  /** In the order of the groups. `areAll`: no others are there any more. */
  of(groups: readonly GroupText[], areAll: boolean): T[] {
    const made = groups.flatMap(({ name, text }) => {
      const known = this.#known.get(name);
      if (known?.text === text) return known.made;
      const fresh = this.#make(text);
      this.#known.set(name, { text, made: fresh });
      return fresh;
    });
    if (areAll && this.#known.size > groups.length) {
      const there = new Set(groups.map(({ name }) => name));
      for (const name of this.#known.keys()) if (!there.has(name)) this.#known.delete(name);
    }
    return made;
  }
}
