/** Who is proven to listen, of real processes of real users. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { NOT_ROOT, skipFor } from '../../../test/support/skips.ts';
import type { UnitProcess } from '../../domain/routes/router.ts';
import { readProcess } from '../../lib/processes.ts';
import { ListenerProof } from './listener-proof.ts';

const [OWN, OTHER] = [91_301, 91_302];
const LISTENS = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port); })`;
/** A process of root that has one of another user below it, as a sandbox's is. */
const OUTER = `require('child_process').spawn(process.execPath, ['-e', process.argv[2]], { uid: ${OWN}, gid: ${OWN}, stdio: 'inherit' }); setInterval(() => {}, 60000)`;

const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    const ended = once(child, 'close');
    // With what is below it, which listens for ever.
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await ended;
  }
});

async function run(args: readonly string[], uid: number): Promise<{ process: UnitProcess; port: number }> {
  const child = spawn(process.execPath, args, {
    uid,
    gid: uid,
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    detached: true,
  });
  started.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const pid = child.pid ?? 0;
  return { process: { pid, start: readProcess(pid)?.start ?? '' }, port: Number(line.toString()) };
}

const proofOf = (port: number, process: UnitProcess): Promise<string | null> =>
  new ListenerProof({ unit: 'one', host: '127.0.0.1', port, process }).before();

describe('where the app has a user of its own', skipFor(NOT_ROOT), () => {
  it('is whoever runs as that user, in whichever of its processes, and nobody else', async () => {
    const { process: first } = await run(['-e', LISTENS], OWN);
    const { port } = await run(['-e', LISTENS], OWN);
    expect(await proofOf(port, { ...first, uid: OWN })).toMatch(/^\d+$/);
    expect(await proofOf(port, { ...first, uid: OTHER })).toBeNull();
    const stranger = await run(['-e', LISTENS], OTHER);
    expect(await proofOf(stranger.port, { ...first, uid: OWN })).toBeNull();
    expect(await proofOf(port, { ...first, start: '1', uid: OWN })).toBeNull();
  });

  it('is found out by the processes of the unit where a table does not say which user that is', async () => {
    const { port, process: outer } = await run(['-e', OUTER, '-', LISTENS], 0);
    const beside = await run(['-e', LISTENS], OWN);
    // Of no process of the family: so it is the user that it is known by.
    expect(await proofOf(beside.port, outer)).toMatch(/^\d+$/);
    expect(await proofOf(port, outer)).toMatch(/^\d+$/);
    const stranger = await run(['-e', LISTENS], OTHER);
    expect(await proofOf(stranger.port, outer)).toBeNull();
  });
});

it('is by its open files whoever belongs to the unit where apps have no users of their own', async () => {
  const uid = process.geteuid?.() ?? 0;
  const one = await run(['-e', LISTENS], uid);
  const other = await run(['-e', LISTENS], uid);
  expect(await proofOf(one.port, one.process)).toMatch(/^\d+$/);
  expect(await proofOf(other.port, one.process)).toBeNull();
});
