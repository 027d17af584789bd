/**
 * What was made of rows that are read as a whole again and again, of which few differ from the last time. They come as one text for each group,
 * made by the database: of a text that is the same nothing is made anew, so thousands of objects do not become garbage with each look.
 */
import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../../../sql/database.ts';

export interface GroupText {
  readonly name: string;
  readonly text: string;
}

/** In the order that the groups were read in; of a group that is as it was the same list. */
export type Groups<T> = ReadonlyMap<string, readonly T[]>;

interface Known<T> {
  readonly text: string;
  readonly made: readonly T[];
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

export function flat<T>(groups: Groups<T>): T[] {
  return [...groups.values()].flat();
}

export class KnownGroups<T> {
  readonly #make: (text: string) => readonly T[];
  /** Of the file, when all was read last; null: nobody knows. For whoever reads it. */
  version: number | null = null;
  /** All there are, by name. */
  #known = new Map<string, Known<T>>();
  /** What was made of them; null: they have changed since. */
  #groups: Groups<T> | null = null;
  /** Those that were read by themselves and are not, or not so, among all; until all are read again. */
  readonly #others = new Map<string, Known<T>>();

  constructor(make: (text: string) => readonly T[]) {
    this.#make = make;
  }

  /** The groups may be some only, or seen by a transaction that is undone: they say nothing of all. */
  of(groups: readonly GroupText[]): Groups<T> {
    const found = groups.map((group) => {
      const known = this.#madeOf(group);
      if (known !== this.#known.get(group.name)) this.#others.set(group.name, known);
      return [group.name, known.made] as const;
    });
    return new Map(found);
  }

  /** The same of all groups there are. */
  all(groups: readonly GroupText[]): Groups<T> {
    this.#known = new Map(groups.map((group) => [group.name, this.#madeOf(group)]));
    this.#others.clear();
    this.#groups = null;
    return this.#inOrder();
  }

  /** All groups, of which only those that are named were read again: those without rows are gone. */
  allButFor(names: readonly string[], groups: readonly GroupText[]): Groups<T> {
    const read = new Map(groups.map((group) => [group.name, this.#madeOf(group)]));
    const isNew = groups.some(({ name }) => !this.#known.has(name));
    for (const name of names) {
      const known = read.get(name);
      if (known === undefined) this.#known.delete(name);
      else this.#known.set(name, known);
      this.#groups = null;
    }
    this.#others.clear();
    if (isNew) this.#known = new Map([...this.#known].sort(([one], [other]) => (one < other ? -1 : 1)));
    return this.#inOrder();
  }

  #madeOf({ name, text }: GroupText): Known<T> {
    const known = [this.#known.get(name), this.#others.get(name)].find((one) => one?.text === text);
    return known ?? { text, made: this.#make(text) };
  }

  #inOrder(): Groups<T> {
    this.#groups ??= new Map([...this.#known].map(([name, { made }]) => [name, made]));
    return this.#groups;
  }
}
