/** Which servers tests have started and not ended yet, noted in the folder of the run: a worker that is killed ends none of them. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SUFFIX = '.server';
const STOP_S = 15;
/** The edge and the keeper may take a while each. */
const STOP_MS = 25_000;

/** Answers what removes the note. */
export function noteServer(home: string, program: string): () => void {
  const folder = process.env['TANCHO_TEST_RUN'];
  if (folder === undefined) return () => undefined;
  const note = path.join(folder, randomUUID() + SUFFIX);
  writeFileSync(note, JSON.stringify({ home, program }));
  return () => rmSync(note, { force: true });
}

/** Ends those that are left in `folder`, with their apps, and removes their homes. */
export async function endLeftServers(folder: string): Promise<void> {
  const notes = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  await Promise.all(notes.map((name) => endServer(path.join(folder, name))));
}

async function endServer(note: string): Promise<void> {
  const { home, program } = JSON.parse(readFileSync(note, 'utf8')) as { home: string; program: string };
  const stop = [program, 'server', 'stop', '--all', '--timeout', String(STOP_S)];
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, TANCHO_HOME: home };
  // It says so itself where nothing runs any more.
  await run(process.execPath, stop, { env, timeout: STOP_MS }).catch(() => undefined);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
