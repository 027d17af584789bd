/** Programs that people have for their lock files, fetched once where the machine has none. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FROM_INDEX = ['uv', 'poetry', 'pipenv'];
const INSTALL_MS = 10 * 60_000;

let installed: Promise<string> | null = null;

/** A PATH with the program on it. */
export async function lockTools(program: string): Promise<string> {
  const path = process.env['PATH'] ?? '';
  if (!FROM_INDEX.includes(program)) return path;
  installed ??= install();
  return `${join(await installed, 'bin')}:${path}`;
}

export async function removeLockTools(): Promise<void> {
  if (installed !== null) await rm(await installed, { recursive: true, force: true });
  installed = null;
}

async function install(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tancho-lock-tools-'));
  await run('python3', ['-m', 'venv', directory], { timeout: INSTALL_MS });
  await run(join(directory, 'bin', 'python'), ['-m', 'pip', 'install', '-q', ...FROM_INDEX], { timeout: INSTALL_MS });
  return directory;
}
