import { stat } from 'node:fs/promises';

/** Whether something is at the path, or behind the link that is there. */
export function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
