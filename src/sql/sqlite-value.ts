import { UnstorableValue } from './sql-error.ts';

/** What may be bound; anything else is refused before it reaches native code. */
export type SqliteValue = string | number | bigint | null | Uint8Array;

/** Checks what is about to be bound. Booleans become 0 and 1; NUL is refused because PostgreSQL has no such character. */
export function sqliteValues(values: readonly unknown[]): SqliteValue[] {
  const checked = new Array<SqliteValue>(values.length);
  for (let at = 0; at < values.length; at++) checked[at] = sqliteValue(values[at]);
  return checked;
}

function sqliteValue(value: unknown): SqliteValue {
  if (typeof value === 'string') {
    refuseNul(value);
    return value;
  }
  if (value === null || typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (value instanceof Uint8Array) return value;
  throw new UnstorableValue(`A value of type ${typeof value} cannot be stored.`);
}

export function refuseNul(value: string): void {
  if (value.includes('\0')) throw new UnstorableValue('A text with a NUL character cannot be stored.');
}
