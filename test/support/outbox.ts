import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The newest letter to somebody in the outbox of a server; '' when there is none. */
export function letterIn(home: string, email: string): string {
  const folder = join(home, 'mail');
  const names = readdirSync(folder).filter((name) => name.endsWith('.eml'));
  const letters = names.sort().map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n'));
  return letters.findLast((letter) => letter.includes(`\nTo: ${email}\n`)) ?? '';
}
