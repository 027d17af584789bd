/** The saved logins: `~/.config/tancho/targets.json`, readable by its owner only, replaced as a whole. */
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from './errors.ts';

interface SavedTarget {
  readonly email: string;
  readonly token: string;
}

interface SavedTargets {
  /** Address of the platform that commands go to; '' for none. */
  readonly current: string;
  readonly targets: Readonly<Record<string, SavedTarget>>;
}

const NONE: SavedTargets = { current: '', targets: {} };

export function targetsPath(env: NodeJS.ProcessEnv): string {
  const config = env['XDG_CONFIG_HOME'] ?? '';
  return join(config === '' ? join(env['HOME'] ?? homedir(), '.config') : config, 'tancho', 'targets.json');
}

export async function readTargets(env: NodeJS.ProcessEnv): Promise<SavedTargets> {
  const path = targetsPath(env);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return NONE;
    throw new CliError(`The saved logins in ${path} cannot be read (${code}).`, 'Check the permissions of the file.');
  }
  const saved = parse(text);
  if (saved === null) throw new CliError(`${path} is damaged.`, `Remove it and log in again: rm ${path}`);
  return saved;
}

export async function writeTargets(env: NodeJS.ProcessEnv, saved: SavedTargets): Promise<void> {
  const path = targetsPath(env);
  const fresh = `${path}.${process.pid}.${Date.now()}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(fresh, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(fresh, 0o600);
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

function parse(text: string): SavedTargets | null {
  try {
    const value = JSON.parse(text) as Partial<SavedTargets> | null;
    if (typeof value?.current !== 'string' || typeof value.targets !== 'object') return null;
    const good = Object.values(value.targets).every(
      (target) => typeof target.email === 'string' && typeof target.token === 'string',
    );
    return good ? { current: value.current, targets: value.targets } : null;
  } catch {
    return null;
  }
}
