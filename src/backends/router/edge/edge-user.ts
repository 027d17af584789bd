/**
 * The user that the edge becomes once it has its listeners: nobody whom the machine knows, no app, and of no other home. It owns what the edge writes
 * and nothing else.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../../lib/find-program.ts';
import type { Logger } from '../../../lib/logger.ts';
import { isInUserMap } from '../../../lib/user-map.ts';
import type { SandboxLevel } from '../../../sandbox/sandbox.ts';
import { apart, closedAbove } from './edge-view.ts';

const run = promisify(execFile);

/** Beyond the users of apps, and before those that distributions give to containers; the second where only 65,536 users are known. */
const RANGES = [
  { from: 90_000, count: 10_000 },
  { from: 65_000, count: 500 },
] as const;
/** A trial takes some 5 ms, on a machine that has too much to do much longer. */
const TRIAL_MS = 60_000;

interface Surroundings {
  readonly home: string;
  /** The program that the edge runs with; it is started again as that user. */
  readonly execPath: string;
  /** What units are isolated by, as configured. */
  readonly isolation: string;
}

/** Null, and why: the edge stays the user of the server. Asked again it answers the same. */
export async function edgeUser({ home, execPath, isolation }: Surroundings): Promise<{
  readonly uid: number | null;
  readonly why: string;
}> {
  const stays = (why: string) => ({ uid: null, why });
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return stays('the server is not root');
  // Who owns a listener is then found by its open files, which only root sees.
  if (isolation === 'plain') return stays('apps have no users of their own');
  if (findProgram('setpriv') === null) return stays('setpriv was not found (install the package "util-linux")');
  const problem = await closedTo({ home, execPath });
  if (problem !== null) return stays(problem);
  if (/\bhidepid=(?!0|off)/.test(readFileSync('/proc/self/mountinfo', 'utf8'))) return stays('/proc hides processes');
  const range = RANGES.find(({ from, count }) => isInUserMap(from) && isInUserMap(from + count - 1));
  if (range === undefined) return stays('too few users are mapped here');
  const number = createHash('sha256').update(home).digest().readUInt32BE(0);
  return { uid: range.from + (number % range.count), why: '' };
}

export async function userOfEdge(
  { home, isolation }: Omit<Surroundings, 'execPath'>,
  logger: Logger,
): Promise<number | null> {
  const { uid, why } = await edgeUser({ home, execPath: process.execPath, isolation });
  if (uid === null) logger.info({ why }, 'the edge has no user of its own');
  return uid;
}

/** Where units are the user of the server, who listens at which port is found by open files, which only root sees. */
export async function userBeside(
  level: Promise<SandboxLevel>,
  user: number | null,
  logger: Logger,
): Promise<number | null> {
  if (user === null) return null;
  const isSeen = (await level) !== 'plain';
  if (isSeen) logger.info({ uid: user }, 'the edge has a user of its own');
  else logger.info({ why: 'units share network and user of the machine' }, 'the edge has no user of its own');
  return isSeen ? user : null;
}

/** Null where that user comes to what the edge goes by, or can be shown it. */
async function closedTo({ home, execPath }: Omit<Surroundings, 'isolation'>): Promise<string | null> {
  const closed = closedAbove([join(home, 'edge'), execPath]);
  if (closed.length === 0) return null;
  const problem = `others cannot enter ${closed.join(' and ')}`;
  const [program, ...words] = apart() ?? [];
  if (program === undefined) return `${problem}, and unshare or mount was not found (install the package "util-linux")`;
  for (const directory of closed) {
    const trial = [...words, findProgram('mount') ?? 'mount', '-t', 'tmpfs', 'tmpfs', directory];
    const error = await run(program, trial, { timeout: TRIAL_MS, cwd: '/' }).catch((reason: Error) => reason);
    if (error instanceof Error) return `${problem}, and nothing can be mounted there: ${error.message.trim()}`;
  }
  return null;
}
