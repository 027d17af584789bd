import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The commit that is measured, as `80d6e1a6`, or `80d6e1a6 with changes`; null outside of a git checkout. */
export async function measuredCommit(directory: string): Promise<string | null> {
  const describe = ['describe', '--always', '--dirty= with changes', '--abbrev=8', '--exclude=*'];
  try {
    const { stdout } = await run('git', describe, { cwd: directory, timeout: 10_000 });
    return stdout.trim();
  } catch {
    return null;
  }
}
