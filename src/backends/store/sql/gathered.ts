/** The rows of a left join by the row of its first table that they belong to, in the order they came. */
export function gathered<R, T>(
  rows: readonly R[],
  keyOf: (row: R) => string,
  make: (first: R, group: readonly R[]) => T,
): T[] {
  return [...Map.groupBy(rows, keyOf).values()].flatMap((group) =>
    group[0] === undefined ? [] : [make(group[0], group)],
  );
}

export function teamsOf(rows: readonly { readonly team: string | null }[]): string[] {
  return rows.flatMap(({ team }) => team ?? []);
}
