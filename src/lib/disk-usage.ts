/** How much a directory holds, and in how many files, by the system's `du`. */
import { execFile } from 'node:child_process';

const DEADLINE_MS = 30_000;

interface CountLimit {
  /** Absent: 30,000. */
  readonly withinMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes as the file system counts them; 0 where it is not there, null where that cannot be said in time. Of other file systems mounted below it nothing is counted; what vanishes meanwhile is left out. */
export async function diskUsage(directory: string, limit: CountLimit = {}): Promise<number | null> {
  const kib = await counted('-k', directory, limit);
  return kib === null ? null : kib * 1024;
}

/** As diskUsage(): files and directories, itself among them. */
export function filesIn(directory: string, limit: CountLimit = {}): Promise<number | null> {
  return counted('--inodes', directory, limit);
}

function counted(
  unit: '-k' | '--inodes',
  directory: string,
  { withinMs = DEADLINE_MS, signal }: CountLimit,
): Promise<number | null> {
  const args = ['-s', '-x', unit, '--', directory];
  return new Promise((resolve) => {
    execFile('du', args, { timeout: withinMs, signal }, (error, stdout) => {
      const count = /^(\d+)\t/m.exec(stdout)?.[1];
      if (count !== undefined) resolve(Number(count));
      else resolve(error !== null && error.killed !== true && error.code === 1 ? 0 : null);
    });
  });
}
