/** How much a directory holds, by the system's `du`. */
import { execFile } from 'node:child_process';

const DEADLINE_MS = 30_000;

/** Bytes as the file system counts them; 0 where it is not there, null where that cannot be said in time. Of other file systems mounted below it nothing is counted; what vanishes meanwhile is left out. */
export function diskUsage(directory: string): Promise<number | null> {
  const args = ['-s', '-x', '-k', '--', directory];
  return new Promise((resolve) => {
    execFile('du', args, { timeout: DEADLINE_MS }, (error, stdout) => {
      const kib = /^(\d+)\t/m.exec(stdout)?.[1];
      if (kib !== undefined) resolve(Number(kib) * 1024);
      else resolve(error !== null && error.killed !== true && error.code === 1 ? 0 : null);
    });
  });
}
