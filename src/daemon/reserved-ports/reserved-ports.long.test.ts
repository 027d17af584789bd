/** Real processes: a control that is killed, who else wants its port meanwhile, and the control that comes after it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { skipFor } from '../../../test/support/skips.ts';
import { until } from '../../../test/support/until.ts';
import { findProgram } from '../../lib/find-program.ts';
import { descriptorOf, listeningAt } from '../../lib/listening.ts';
import { SILENT } from '../../lib/logger.ts';
import { portUser } from '../../lib/port-user.ts';
import { isTaken, sendSignal } from '../../lib/processes.ts';
import { receiver } from './holder.ts';
import { holderSocket } from './reclaim.ts';
import { ReservedPorts } from './reserved-ports.ts';

const WHY = process.platform !== 'linux' || findProgram('perl') === null ? 'it takes perl, on Linux' : '';
const CONTROL = join(import.meta.dirname, '../../../test/support/reserving-control.ts');

interface Control {
  readonly child: ChildProcess;
  /** Whether the port was kept for it. */
  readonly wereKept: boolean;
  kill(): Promise<void>;
}

describe('ports of a control that is away', skipFor(WHY), () => {
  let home = '';
  let port = 0;
  const controls: ChildProcess[] = [];
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'tancho-ports-'));
    mkdirSync(join(home, 'run'));
    port = await freePort();
  });
  afterEach(async () => {
    for (const child of controls) child.kill('SIGKILL');
    const holder = holderPid();
    rmSync(home, { recursive: true, force: true });
    // It looks after itself: without the home it has nothing to do.
    if (holder !== 0) await until(() => !isTaken(holder), { what: 'the end of who has kept the port' });
  });

  function holderPid(): number {
    try {
      return Number(readFileSync(join(home, 'run', 'ports.pid'), 'utf8'));
    } catch {
      return 0;
    }
  }

  async function control(at = port): Promise<Control> {
    const child = spawn(process.execPath, [CONTROL, home, `${at}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    controls.push(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const wereKept = line === 'kept';
      const kill = async (): Promise<void> => {
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
      return { child, wereKept, kill };
    }
    throw new Error('the control has ended');
  }

  /** The error of the attempt to listen there; '' for none. */
  async function taken(host = '127.0.0.1', at = port): Promise<string> {
    const server = createServer();
    server.listen(at, host);
    const code = await once(server, 'listening').then(
      () => '',
      (error: NodeJS.ErrnoException) => error.code ?? '',
    );
    server.close();
    return code;
  }

  async function answer(at = port): Promise<string> {
    const socket = connect(at, '127.0.0.1');
    return new Promise((resolve) => {
      socket.on('data', (bytes) => resolve(bytes.toString()));
      socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => resolve(code));
      socket.on('close', () => resolve(''));
    });
  }

  it('are nobody else’s, cut off whoever connects, and are those of the next control', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { child, wereKept, kill } = await control();
      expect(wereKept).toBe(round > 0);
      expect(await answer()).toBe(`control ${child.pid}`);
      await kill();
      await until(async () => (await answer()) === 'ECONNRESET', { what: 'the port to be kept' });
      expect([await taken(), await taken('0.0.0.0'), await taken('::')]).toEqual([
        'EADDRINUSE',
        'EADDRINUSE',
        'EADDRINUSE',
      ]);
    }
  });

  it('never are free between a control and its successor, for whoever tries without end', async () => {
    const first = await control();
    let isOver = false;
    let tries = 0;
    const trying = (async () => {
      for (; !isOver; tries += 1) {
        if ((await taken()) === '') return 'taken';
        // An attempt that fails ends without a turn of the event loop.
        await setImmediate();
      }
      return '';
    })();
    try {
      await first.kill();
      const second = await control();
      await second.kill();
      const third = await control();
      expect([second.wereKept, third.wereKept]).toEqual([true, true]);
    } finally {
      isOver = true;
    }
    expect(await trying).toBe('');
    expect(tries).toBeGreaterThan(10);
  });

  it('are kept by another one when whoever keeps them is killed', async () => {
    const first = await control();
    const holder = holderPid();
    sendSignal(holder, 'SIGKILL');
    await until(() => holderPid() !== holder && isTaken(holderPid()), { what: 'another one' });
    await first.kill();
    await until(async () => (await answer()) === 'ECONNRESET', { what: 'the port to be kept' });
    expect(await taken()).toBe('EADDRINUSE');
    expect((await control()).wereKept).toBe(true);
  });

  it('stay kept by the same one when somebody has asked for them and is gone, and it says for which home it does so', async () => {
    const first = await control();
    const holder = holderPid();
    const gone = connect(holderSocket(home));
    await once(gone, 'connect');
    gone.destroy();
    await once(gone, 'close');
    await first.kill();
    await until(async () => (await answer()) === 'ECONNRESET', { what: 'the port to be kept' });
    expect(portUser(port)).toMatch(`process ${holder} (tancho: keeps the ports of /`);
    expect((await control()).wereKept).toBe(true);
    expect([holderPid(), isTaken(holder)]).toEqual([holder, true]);
  });

  it('that nobody keeps, where a socket is left or not, are nothing to warn of', () => {
    const socket = holderSocket(home);
    const [perl = '', ...words] = receiver(socket, 'KEPT') ?? [];
    const begun = () => spawnSync(perl, [...words, process.execPath, '-p', 'process.env.KEPT'], { encoding: 'utf8' });
    expect(begun()).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^\d+ \n$/) as string });
    const leave = 'socket my $s, AF_UNIX, SOCK_STREAM, 0; bind $s, pack_sockaddr_un($ARGV[0]) or die';
    expect(spawnSync(perl, ['-MSocket', '-e', leave, socket]).status).toBe(0);
    expect(begun()).toMatchObject({ status: 0, stderr: '', stdout: expect.stringMatching(/^\d+ \n$/) as string });
  });

  it('that cannot be kept say why', async () => {
    mkdirSync(join(home, 'run', 'ports.log'));
    const place = { host: '127.0.0.1', port };
    const ports = await ReservedPorts.open({ home, logger: SILENT, wanted: { api: place } });
    const server = createServer();
    await listeningAt(server, place);
    await expect(ports.hold({ api: { ...place, descriptor: descriptorOf(server) } })).rejects.toThrow(/EISDIR/);
    server.close();
    expect(holderPid()).toBe(0);
  });

  it('are free for a version that does not ask for them, and when another address is wanted', async () => {
    const first = await control();
    await first.kill();
    const other = await freePort();
    const second = await control(other);
    expect(second.wereKept).toBe(true);
    expect(await taken()).toBe('');
    expect(await answer(other)).toBe(`control ${second.child.pid}`);
    const holder = holderPid();
    await second.kill();
    const old = spawn(process.execPath, [CONTROL, home, 'old'], { stdio: ['ignore', 'pipe', 'inherit'] });
    controls.push(old);
    await until(() => !isTaken(holder), { what: 'the end of who keeps the port' });
    expect(await taken('127.0.0.1', other)).toBe('');
  });
});
