/** The system's tar: its end, and what it says of its errors. */
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { demandSpawned } from '../demand-spawned.ts';

const LAST_LINES = 3;
const MOST_OF_A_LINE = 500;
const SUMMARY = /Exiting with failure status/;
/** No path can name it, so nobody has it open by one. */
const TOO_DEEP = /: File name too long$/;

interface TarEnd {
  readonly code: number | null;
  /** The last of them, in one line. */
  readonly errors: string;
  /** There were no errors but of files that are deeper than a path can be; everything else is done. */
  readonly isTooDeepOnly: boolean;
}

interface Tar {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Never rejects. */
  readonly ended: Promise<TarEnd>;
}

const VERSION_MS = 10_000;

/** Those of BusyBox and BSD lack what backups need: sparse files, and names from standard input. */
export class NotGnuTar extends Error {
  override readonly name = 'NotGnuTar';
}

/** Throws NotGnuTar. */
export async function demandGnuTar(): Promise<void> {
  const version = await promisify(execFile)('tar', ['--version'], { timeout: VERSION_MS }).then(
    ({ stdout }) => stdout.split('\n')[0] ?? '',
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : error.message),
  );
  if (version === null) throw new NotGnuTar('GNU tar is needed, and there is no tar in PATH.');
  if (version.includes('GNU tar')) return;
  throw new NotGnuTar(`GNU tar is needed, and the tar in PATH is another one (${version.slice(0, MOST_OF_A_LINE)}).`);
}

function startedUnder(mask: number, args: readonly string[]): Tar['child'] {
  const before = process.umask(mask);
  try {
    return demandSpawned(spawn('tar', args, { stdio: 'pipe', env: { ...process.env, LC_ALL: 'C' } }));
  } finally {
    process.umask(before);
  }
}

/** `mask`: of the modes of what it makes without finding a mode for it. */
export function startTar(args: readonly string[], mask = 0o077): Tar {
  const child = startedUnder(mask, args);
  const errors: string[] = [];
  let isTooDeep = false;
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (TOO_DEEP.test(line)) isTooDeep = true;
    else if (!SUMMARY.test(line)) errors.push(line.slice(-MOST_OF_A_LINE));
    if (errors.length > LAST_LINES) errors.shift();
  });
  // What it says about it comes with its end.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<TarEnd>((resolve) => {
    child.once('error', ({ message }) => resolve({ code: null, errors: message, isTooDeepOnly: false }));
    child.once('close', (code) =>
      resolve({ code, errors: errors.join('; '), isTooDeepOnly: code === 2 && isTooDeep && errors.length === 0 }),
    );
  });
  return { child, ended };
}
