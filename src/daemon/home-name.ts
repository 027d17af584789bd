import { hostname } from 'node:os';

/** Names who has a state in its files, for people and other servers. */
export function homeName(home: string): string {
  return `${hostname()}:${home}`;
}
