/** Programs that people have for their lock files, fetched once where the machine has none. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FROM_INDEX = ['uv', 'poetry', 'pipenv'];
const INSTALL_MS = 10 * 60_000;

/** Each in an environment of its own: few rows need the large ones. */
const installed = new Map<string, Promise<string>>();

/** A PATH with the program on it. */
export async function lockTools(program: string): Promise<string> {
  const path = process.env['PATH'] ?? '';
  if (!FROM_INDEX.includes(program)) return path;
  const directory = installed.get(program) ?? install(program);
  installed.set(program, directory);
  return `${join(await directory, 'bin')}:${path}`;
}

export async function removeLockTools(): Promise<void> {
  for (const directory of installed.values()) await rm(await directory, { recursive: true, force: true });
  installed.clear();
}

async function install(program: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tancho-lock-tools-'));
  await run('python3', ['-m', 'venv', directory], { timeout: INSTALL_MS });
  await run(join(directory, 'bin', 'python'), ['-m', 'pip', 'install', '-q', program], { timeout: INSTALL_MS });
  return directory;
}
