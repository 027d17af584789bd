import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliWorld } from '../../../test/support/cli-world.ts';
import { json, startPlatform } from '../../../test/support/scripted-platform.ts';
import { writePidFile } from '../../lib/pid-file.ts';

let world: CliWorld;
const children: ChildProcess[] = [];
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  world = new CliWorld();
  await mkdir(join(world.home, 'run'));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  }
  world.dispose();
});

/** A real process that behaves as `body` says; `ready` once its handlers are in place. */
async function start(body: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', `${body}; setInterval(() => {}, 1000); console.log('ready')`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

/** As the process itself would have written it. */
function named(part: 'control' | 'edge' | 'keeper', child: ChildProcess): Promise<void> {
  return writePidFile(join(world.home, 'run', `${part}.pid`), child.pid);
}

/** Node learns of the end a moment after the system does. */
async function exitCodeOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

const polite = "process.on('SIGTERM', () => process.exit(15)); process.on('SIGINT', () => process.exit(2))";

it('sends TERM, waits for the end, and says that the apps stay on the air', async () => {
  const [control, edge] = [await start(polite), await start(polite)];
  await named('control', control);
  await named('edge', edge);
  const { code, out } = await world.run(['server', 'stop']);
  expect(code).toBe(0);
  expect(out).toMatch(/The server is stopped\. The apps stay on the air .* tancho server stop --all/);
  expect(await exitCodeOf(control)).toBe(15);
  expect([edge.exitCode, edge.signalCode]).toEqual([null, null]);
});

it('with --all sends INT', async () => {
  const control = await start(polite);
  await named('control', control);
  expect((await world.run(['server', 'stop', '--all'])).out).toBe('The server and all apps are stopped.\n');
  expect(await exitCodeOf(control)).toBe(2);
});

it('gives up at its deadline and says how to force it', async () => {
  const control = await start("process.on('SIGTERM', () => {})");
  await named('control', control);
  const { code, err } = await world.run(['server', 'stop', '--timeout', '0']);
  expect(code).toBe(1);
  expect(err).toContain(`kill -9 ${control.pid}`);
});

it('leaves an edge that its server has left, unless everything is to be stopped', async () => {
  const edge = await start(polite);
  await named('edge', edge);
  const { out } = await world.run(['server', 'stop']);
  expect(out).toMatch(`No server runs for ${world.home}. The apps stay on the air (edge: process ${edge.pid}).`);
  expect([edge.exitCode, edge.signalCode]).toEqual([null, null]);
  await world.run(['server', 'stop', '--all', '--timeout', '0']);
  expect(await exitCodeOf(edge)).toBe(15);
});

it('without a server, --all says what to do', async () => {
  const { code, err } = await world.run(['server', 'stop', '--all']);
  expect(code).toBe(1);
  expect(err).toMatch(/Start it with "tancho server", then use "tancho server stop --all" again/);
});

it('a server whose state is being moved is not said to be stopped, for it comes back', async () => {
  const mover = await start('');
  await writePidFile(join(world.home, 'run', 'move.pid'), mover.pid);
  const { code, err } = await world.run(['server', 'stop']);
  expect(code).toBe(1);
  expect(err).toMatch(new RegExp(`is being moved .* process ${mover.pid}[^]*Try again when that is over`));
});

it('without a server there is nothing to stop', async () => {
  expect(await world.run(['server', 'stop'])).toMatchObject({ code: 0, out: `No server runs for ${world.home}.\n` });
});

it('never signals a process that has taken the pid of the server', async ({ skip }) => {
  skip(process.platform !== 'linux', 'start times are only known on Linux');
  const stranger = await start(polite);
  await writeFile(join(world.home, 'run', 'control.pid'), `${stranger.pid}\n`);
  await writeFile(join(world.home, 'run', 'control.pid.start'), `${stranger.pid} 1\n`);
  expect((await world.run(['server', 'stop'])).out).toMatch(/^No server runs/);
  await writeFile(join(world.home, 'run', 'control.pid'), `${stranger.pid}\n`);
  expect((await world.run(['server', 'stop'])).out).toMatch(/^No server runs/);
  expect(stranger.exitCode).toBeNull();
});

it('status is 0 while the server answers, 1 otherwise', async () => {
  const off = await world.run(['server', 'status']);
  expect(off).toMatchObject({ code: 1 });
  expect(off.out).toMatch(/No server runs for .* To start it: tancho server/);
  const replies = { 'GET /healthcheck': json('x'), 'GET /info': json({ version: '1.2.3' }), 'GET /edges': json([]) };
  replies['GET /healthcheck'] = (_, response) => response.end('WORKING');
  closers.push((await startPlatform(replies, { socketPath: join(world.home, 'run', 'api.sock') })).close);
  const on = await world.run(['server', 'status', '--json']);
  expect(on.code).toBe(0);
  expect(JSON.parse(on.out)).toMatchObject({ running: true, version: '1.2.3', home: world.home });
  replies['GET /edges'] = json([{ State: 'following' }, { State: 'lost' }, { State: 'following' }]);
  const { out } = await world.run(['server', 'status']);
  expect(out).toMatch(/Edge: +none on this machine; 2 of their own follow/);
});

it('--all without a server has the keeper end the apps', async () => {
  const keeper = await start("process.on('SIGINT', () => process.exit(2))");
  await named('keeper', keeper);
  const { code, out } = await world.run(['server', 'stop', '--all']);
  expect({ code, out }).toEqual({ code: 0, out: 'The server and all apps are stopped.\n' });
  expect(await exitCodeOf(keeper)).toBe(2);
});

it('--all waits for the keeper that an edge without its server is about to start', async () => {
  const edge = await start(polite);
  await named('edge', edge);
  const stopping = world.run(['server', 'stop', '--all']);
  const keeper = await start(polite);
  await named('keeper', keeper);
  expect(await stopping).toMatchObject({ code: 0, out: 'The server and all apps are stopped.\n' });
  expect([await exitCodeOf(keeper), await exitCodeOf(edge)]).toEqual([2, 15]);
});

it('--all ends the apps and the edge of a server that is leaving them already', async () => {
  const [control, edge, keeper] = [
    // As it is once SIGTERM has come: it ends, whatever comes then.
    await start("process.on('SIGINT', () => process.exit(130))"),
    await start(polite),
    await start(polite),
  ];
  await named('control', control);
  await named('edge', edge);
  void once(control, 'exit').then(() => named('keeper', keeper));
  expect(await world.run(['server', 'stop', '--all'])).toMatchObject({
    code: 0,
    out: 'The server and all apps are stopped.\n',
  });
  expect([await exitCodeOf(control), await exitCodeOf(keeper), await exitCodeOf(edge)]).toEqual([130, 2, 15]);
});

it('--all says that apps may run where the server leaves them, and nobody looks after them', async () => {
  const [control, edge] = [await start("process.on('SIGINT', () => process.exit(130))"), await start(polite)];
  await named('control', control);
  await named('edge', edge);
  const { code, err } = await world.run(['server', 'stop', '--all']);
  expect(code).toBe(1);
  expect(err).toMatch(/had been asked to leave the apps; a left-over edge was stopped\. Apps may still be running/);
  expect(await exitCodeOf(edge)).toBe(15);
});
