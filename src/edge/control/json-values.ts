/** Reading of values that came from outside this process; each throws an Error that names what is wrong. */
export function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} is no object`);
  return value as Record<string, unknown>;
}

export function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is no list`);
  return value as unknown[];
}

export function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} is no text`);
  return value;
}

export function version(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error('version is no number');
  return value as number;
}

const HOST = /^(\*\.)?[a-z0-9_][a-z0-9_.-]*$|^\[[0-9a-f:.]+\]$/;

export function hostName(value: unknown, whose: string): string {
  const name = text(value, 'a host');
  if (!HOST.test(name)) throw new Error(`"${name}" is no host name (${whose})`);
  return name;
}
