/** Real processes of an ordinary user, in networks that pasta connects: who reaches whom, and what is left when parts of it are killed. */
import { execFile, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipFor } from '../../../test/support/skips.ts';
import { findProgram } from '../../lib/find-program.ts';

const TUN = '/dev/net/tun';
/** Nobody's. */
const USER = 64_321;
const isRoot = process.getuid?.() === 0;
const DEADLINE_MS = 10 * 60_000;

const become = [findProgram('setpriv') ?? '', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups', '--'];
const script = join(import.meta.dirname, '../../../test/support/rootless-networks.ts');

function canOthersRead(): boolean {
  const [file = '', ...args] = [...become, process.execPath, '--check', script];
  return spawnSync(file, args, { env: { PATH: process.env.PATH } }).status === 0;
}

function whyNot(): string | false {
  for (const program of ['pasta', 'bwrap', 'ip', 'nft', 'nsenter', 'unshare', 'setpriv'])
    if (findProgram(program) === null) return `${program} is not here`;
  if (isRoot && !canOthersRead()) return 'this program lies where other users cannot read it';
  try {
    accessSync(TUN, constants.R_OK | constants.W_OK);
    return isRoot && (statSync(TUN).mode & 0o006) !== 0o006 ? `${TUN} is for root only` : false;
  } catch {
    return `${TUN} cannot be opened`;
  }
}

const missing = whyNot();

describe('networks without root', skipFor(missing), () => {
  const home = mkdtempSync(join(tmpdir(), 'tancho-rootless-'));
  let found: Record<string, unknown> = {};

  beforeAll(async () => {
    chmodSync(home, 0o711);
    if (isRoot) chownSync(home, USER, USER);
    const [file = '', ...args] = [...(isRoot ? become : []), process.execPath, script, home];
    const env = { PATH: process.env.PATH, HOME: home };
    const { stdout } = await promisify(execFile)(file, args, { env, timeout: DEADLINE_MS });
    found = JSON.parse(stdout) as Record<string, unknown>;
  }, DEADLINE_MS);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  it('are found, and said to be', () => {
    expect(found['description']).toContain('networks: own (pasta)');
  });

  it('let the machine reach the one port of a unit that its door is opened for, also one on its loopback only', () => {
    expect(found).toMatchObject({ closed: '', doors: ['here', 'here'] });
  });

  it('let units of one app reach each other, and no others, by TCP, UDP and abstract sockets', () => {
    expect(found['pairs']).toEqual(['shop1 tcp shop2', 'shop1 udp shop2', 'shop2 tcp shop1', 'shop2 udp shop1']);
  });

  it("open what is bound to an app on the machine's loopback, and nothing else of the machine by any address", () => {
    expect(found).toMatchObject({ bound: ['127.0.0.1:bound'], unbound: [] });
  });

  it('let an app reach one that it is linked to, and no other app', () => {
    expect(found['linked']).toEqual(['reached', expect.not.stringMatching(/^reached$/)]);
  });

  it('have another pasta in the place of one that has been killed, by themselves', () => {
    expect(found['mended']).toBe('here');
  });

  it('are gone on with by the next platform process, pasta too', () => {
    expect(found['adopted']).toEqual([true, 'here', 'here']);
  });

  it('begin anew when what holds them has been killed, without the processes that were in them', () => {
    expect(found['fault']).toBe('what holds the networks of units has been ended');
    expect(found['anew']).toEqual(['here', 'reached']);
  });

  it('leave nothing behind', () => {
    expect(found['left']).toBe(0);
  });
});
