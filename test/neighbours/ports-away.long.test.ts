/** Where apps share the network of the machine: one that wants the ports of the platform gets none of them, whatever happens to the server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findProgram } from '../../src/lib/find-program.ts';
import { freePort } from '../support/free-port.ts';
import { allowPush, createIdentity, type Identity, pushedApp } from '../support/git.ts';
import { skipFor } from '../support/skips.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const WHY = process.platform !== 'linux' || findProgram('perl') === null ? 'it takes perl, on Linux' : '';

/** Tries to listen at each of the ports as often as it can, and answers how often it has tried, and which ones it has. */
const thief = (ports: readonly string[]): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'thief', scripts: { start: 'node server.js' } }),
  'server.js': `
    const net = require('node:net');
    const tries = {}, taken = [];
    const attempt = (port) => {
      tries[port] = (tries[port] ?? 0) + 1;
      const server = net.createServer((socket) => socket.on('error', () => {}).end('stolen'));
      server.on('error', () => setTimeout(attempt, 1, port));
      server.listen(port, '127.0.0.1', () => taken.push(port));
    };
    ${JSON.stringify(ports.map((address) => Number(address.split(':').at(-1))))}.forEach(attempt);
    require('node:http').createServer((request, response) => response.end(JSON.stringify({ tries, taken })))
      .listen(process.env.PORT);`,
});

let world: World;
let ann: Identity;
let token: string;
beforeAll(async () => {
  world = await startWorld({ env: { TANCHO_NETWORK: 'shared' }, hasCluster: false });
  ann = await createIdentity();
  token = await allowPush(world, ann);
});
afterAll(async () => {
  await world.dispose();
  await ann.dispose();
});

function apiAddress(): string {
  return new URL(world.apiUrl).host;
}

async function push(name: string, ports: readonly string[]): Promise<void> {
  await (await pushedApp(world, { name, files: thief(ports), identity: ann, token })).dispose();
}

interface Thief {
  readonly tries: Readonly<Record<string, number>>;
  readonly taken: readonly number[];
}

async function asked(): Promise<Thief> {
  return (await world.fetchApp('thief')).json<Thief>();
}

/** It has tried each port some times more. */
async function afterTries(): Promise<Thief> {
  const before = (await asked()).tries;
  await until(
    async () => {
      const { tries, taken } = await asked();
      return taken.length > 0 || Object.keys(before).every((port) => (tries[port] ?? 0) > (before[port] ?? 0) + 20);
    },
    { what: 'the app to try again' },
  );
  return asked();
}

it('when it has ended, was killed, and is started again', skipFor(WHY), async () => {
  await push('thief', [apiAddress(), `${world.ssh.port}`]);
  expect((await afterTries()).taken).toEqual([]);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await world.end(signal);
    expect((await afterTries()).taken, signal).toEqual([]);
    await world.startAgain();
    expect((await afterTries()).taken, signal).toEqual([]);
    expect((await world.api('GET', '/healthcheck')).status).toBe(200);
  }
});

it('when the machine is started again, for the ports are those of the server before any app runs', async () => {
  await world.end('SIGINT');
  await world.startAgain();
  await until(async () => (await world.fetchApp('thief')).status === 200, { what: 'the app' });
  expect((await afterTries()).taken).toEqual([]);
});

it('a start says who has a port that it wants: the process, the program and the app', async () => {
  const own = apiAddress();
  const other = `127.0.0.1:${await freePort()}`;
  await push('early', [other]);
  await until(async () => (await world.fetchApp('early')).json<Thief>().taken.length === 1, { what: 'it to listen' });
  await world.end('SIGTERM');
  await expect(world.startAgain({ TANCHO_API_LISTEN: other })).rejects.toThrow(
    new RegExp(
      `cannot listen on ${other}: process \\d+ \\(node server\\.js\\) of the app "early" already listens there`,
    ),
  );
  // What is not to be changed is kept all the same.
  await world.startAgain({ TANCHO_API_LISTEN: own });
  expect((await asked()).taken).toEqual([]);
});
