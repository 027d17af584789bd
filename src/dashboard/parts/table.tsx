import type { ComponentChildren } from 'preact';

interface TableRow {
  readonly key: string;
  /** The first one names the row. */
  readonly cells: readonly ComponentChildren[];
  /** What can be done with it. */
  readonly actions?: ComponentChildren;
}

export function Table({
  label,
  columns,
  rows,
}: {
  label: string;
  columns: readonly string[];
  rows: readonly TableRow[];
}) {
  const hasActions = rows.some(({ actions }) => actions !== undefined);
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            {hasActions && (
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells: [first, ...rest], actions }) => (
            <tr key={key}>
              <th scope="row" class="break">
                {first}
              </th>
              {rest.map((cell, index) => (
                <td class="break" data-column={columns[index + 1] ?? ''}>
                  {cell}
                </td>
              ))}
              {hasActions && (
                <td class="actions">
                  <span class="row tight end">{actions}</span>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
