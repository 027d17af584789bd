/** Programs that are run by a user who is not root and whom the machine does not know, for what is done without root. */
import { execFile, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../src/lib/find-program.ts';

const TUN = '/dev/net/tun';
/** Nobody's. */
const USER = 64_321;
const DEADLINE_MS = 10 * 60_000;
const isRoot = process.getuid?.() === 0;
const become = [findProgram('setpriv') ?? '', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--'];

/** Why there are no networks without root for this script; false: there are. */
export function whyNoRootlessNetworks(script: string): string | false {
  for (const program of ['pasta', 'bwrap', 'ip', 'nft', 'nsenter', 'unshare', 'setpriv'])
    if (findProgram(program) === null) return `${program} is not here`;
  if (isRoot && !canOthersRead(script)) return 'this program lies where other users cannot read it';
  try {
    accessSync(TUN, constants.R_OK | constants.W_OK);
    return isRoot && (statSync(TUN).mode & 0o006) !== 0o006 ? `${TUN} is for root only` : false;
  } catch {
    return `${TUN} cannot be opened`;
  }
}

/** Gives the script a home, and answers what it prints as JSON. */
export async function runAsOrdinaryUser(script: string, ...words: string[]): Promise<Record<string, unknown>> {
  const home = mkdtempSync(join(tmpdir(), 'tancho-rootless-'));
  try {
    chmodSync(home, 0o711);
    if (isRoot) chownSync(home, USER, USER);
    const [file = '', ...args] = [...(isRoot ? become : []), process.execPath, script, home, ...words];
    const env = { PATH: process.env['PATH'], HOME: home };
    const { stdout } = await promisify(execFile)(file, args, { env, timeout: DEADLINE_MS });
    return JSON.parse(stdout) as Record<string, unknown>;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function canOthersRead(script: string): boolean {
  const [file = '', ...args] = [...become, process.execPath, '--check', script];
  return spawnSync(file, args, { env: { PATH: process.env['PATH'] } }).status === 0;
}
