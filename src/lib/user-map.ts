/** Which users there are in the user namespace of this process. */
import { readFileSync } from 'node:fs';

export function isInUserMap(uid: number, map: string = readFileSync('/proc/self/uid_map', 'utf8')): boolean {
  return map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([inside = 0, , count = 0]) => inside <= uid && uid < inside + count);
}
