/** Which servers tests have started and not ended yet, noted in the folder of the run: a worker that is killed ends none of them. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SUFFIX = '.server';
const STOP_S = 5;
/** Control, the keeper, its apps and the edge, one after the other. */
const STOP_MS = 60_000;

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
  const isEnded = await run(process.execPath, stop, { env, timeout: STOP_MS }).then(
    () => true,
    ({ stderr = '' }: { readonly stderr?: string }) => stderr.includes('No server runs'),
  );
  if (!isEnded) return console.error(`A server of an interrupted test is left, with TANCHO_HOME=${home}`);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
