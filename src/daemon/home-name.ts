import { hostname } from 'node:os';

/** Who has a state in its files, as far as people and other servers can tell. */
export function homeName(home: string): string {
  return `${hostname()}:${home}`;
}
