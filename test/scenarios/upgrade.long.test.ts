/** Upgrades under load lose nothing, and what dies while control is away comes back without it. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import type { Duplex } from 'node:stream';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, nodeApp, sshUrl } from '../support/git.ts';
import { type OpenLoad, startOpenLoad } from '../support/open-load.ts';
import { otherBuild } from '../support/other-build.ts';
import { allGone, processesOf } from '../support/processes-of.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { edgePid, startWorld, type World } from '../support/world.ts';

const UPGRADES = rounds(3, 20);
const SOCKETS = 50;
const PER_SECOND = 500;
const CONNECTIONS = 20;
/** Promised on cores that have nothing else to do; said here, not asserted. */
const BACK_MS = 2_000;
/** Of the app whose units are killed. */
const MORTALS = 3;

/** Answers with a word of its process's own; sends back what comes over an upgraded connection. */
const SERVER = `const own = require('node:crypto').randomUUID();
const server = require('node:http').createServer((req, res) => res.end(own));
server.on('upgrade', (req, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n');
  socket.on('error', () => {});
  socket.pipe(socket);
});
server.listen(process.env.PORT);
`;

let world: World;
let ann: Identity;
let token: string;
let builds: string[];
let folder: string;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  const work = await createWorkTree({ ...nodeApp(''), 'server.js': SERVER }, ann);
  for (const name of ['steady', 'mortal']) {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
    const pushed = await work.push(sshUrl(world, name));
    expect(pushed.code, pushed.stderr).toBe(0);
  }
  await work.dispose();
  const more = await world.api('PUT', '/apps/mortal/units', {
    token,
    body: `units=${MORTALS - 1}&process=web`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(more.status, more.text).toBe(200);
  folder = await mkdtemp(path.join(os.tmpdir(), 'tancho-builds-'));
  builds = [await otherBuild(folder, 'one'), await otherBuild(folder, 'two')];
});

afterAll(async () => {
  await world.dispose();
  await ann.dispose();
  await rm(folder, { recursive: true, force: true });
});

interface Echo {
  /** Sends a word and waits for its return. */
  ask(word: string): Promise<void>;
  readonly isClosed: () => boolean;
  end(): void;
}

async function openEcho(): Promise<Echo> {
  const headers = { host: 'steady.localhost', connection: 'Upgrade', upgrade: 'echo' };
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const request = http.get(`http://${world.edge}/`, { headers, agent: false });
    request.once('upgrade', (_response, upgraded) => resolve(upgraded));
    request.once('response', ({ statusCode }) => reject(new Error(`not upgraded: ${statusCode}`)));
    request.once('error', reject);
  });
  let text = '';
  let isClosed = false;
  socket.on('data', (data: Buffer) => (text += data.toString()));
  socket.on('error', () => {});
  socket.on('close', () => (isClosed = true));
  return {
    async ask(word) {
      socket.write(word);
      await until(() => text.endsWith(word) || isClosed, { what: 'the echo' });
    },
    isClosed: () => isClosed,
    end: () => socket.destroy(),
  };
}

/** Of the app's one process. */
const answer = async (): Promise<string> => (await world.fetchApp('steady')).text;

/** An answer with status 200 of a process other than this one. */
async function anotherAnswer(before: string): Promise<string> {
  let text = before;
  await until(
    async () => {
      const found = await world.fetchApp('steady').catch(() => null);
      if (found?.status === 200) text = found.text;
      return text !== before;
    },
    { what: 'the answer of another process' },
  );
  return text;
}

async function untilKept(): Promise<number> {
  const file = path.join(world.home, 'run', 'keeper.pid');
  const pid = async (): Promise<number> => Number(await readFile(file, 'utf8').catch(() => '0'));
  await until(async () => (await pid()) > 0, { what: 'the keeper' });
  return pid();
}

it(`${UPGRADES} upgrades, each followed by a restart in place, fail no request and cut no upgraded connection, and what dies meanwhile is back`, async () => {
  const unit = await answer();
  const echoes = await Promise.all(Array.from({ length: SOCKETS }, openEcho));
  const load = startOpenLoad(world, ['steady', 'mortal'], PER_SECOND, CONNECTIONS);
  const edges = new Set([await edgePid(world)]);
  const backAfterMs: number[] = [];
  for (let upgrade = 0; upgrade < UPGRADES; upgrade++) {
    world.program = builds[upgrade % builds.length] ?? '';
    for (const how of ['another build', 'in place']) {
      // In turn while control is away and while it is there.
      const isAway = (upgrade % 2 === 0) === (how === 'in place');
      await world.end('SIGTERM');
      if (isAway) backAfterMs.push(await killed(load));
      await world.startAgain();
      if (!isAway) backAfterMs.push(await killed(load));
      edges.add(await edgePid(world));
      for (const echo of echoes) await echo.ask(`${how} ${upgrade}.`);
    }
  }
  const { failures, requests, wanted, latencyMs } = await load.stop();
  const { median, p99, longest } = latencyMs;
  console.log(
    `${requests} requests, ${failures.length} failed; median ${median} ms, p99 ${p99} ms, longest ${longest} ms`,
  );
  const late = backAfterMs.filter((ms) => ms > BACK_MS).length;
  console.log(
    `units that died answered again after ${backAfterMs.map(Math.round).join(', ')} ms: ${late} later than ${BACK_MS}`,
  );
  if (requests < wanted)
    console.log(`this machine was too slow for the rate: ${wanted} requests should have been sent`);
  expect(failures).toEqual([]);
  expect(echoes.filter((echo) => echo.isClosed())).toEqual([]);
  expect(edges.size).toBe(UPGRADES + 1);
  expect(await answer()).toBe(unit);
  for (const echo of echoes) echo.end();
}, 900_000);

/** Kills a unit of the app that others of it stand in for; resolves with how long it took until a new process of it has answered. */
async function killed(load: OpenLoad): Promise<number> {
  const before = load.texts('mortal').size;
  process.kill(await mainPid('mortal'), 'SIGKILL');
  const begun = performance.now();
  await until(() => load.texts('mortal').size > before, { everyMs: 5, what: 'the answer of the unit that was killed' });
  return performance.now() - begun;
}

describe('while control is away', () => {
  it('a unit that dies is started again, so is the edge, and the next control takes over both', async () => {
    const first = await answer();
    await world.end('SIGKILL');
    process.kill(await mainPid('steady'), 'SIGKILL');
    const begun = Date.now();
    const second = await anotherAnswer(first);
    console.log(`the app answered ${Date.now() - begun} ms after its death`);
    const edge = await edgePid(world);
    process.kill(edge, 'SIGKILL');
    await until(async () => (await edgePid(world).catch(() => edge)) !== edge, { what: 'another edge' });
    await until(async () => (await world.fetchApp('steady').catch(() => null))?.text === second, { what: 'the app' });
    const kept = await edgePid(world);
    await world.startAgain();
    expect(await answer()).toBe(second);
    expect(await edgePid(world)).toBe(kept);
    const log = await world.api('GET', '/apps/steady/log?lines=50&source=tancho', { token });
    expect(log.text).toMatch(/was ended by SIGKILL at .*, while the platform was away; it was started again meanwhile/);
    await expect(readFile(path.join(world.home, 'run', 'keeper.pid'))).rejects.toThrow();
  });

  it('a unit that hangs is ended and started again', async () => {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'hanging', platform: 'nodejs' }) });
    const settings = 'healthcheck:\n  liveness:\n    period_seconds: 1\n    failures: 2\n';
    const work = await createWorkTree({ ...nodeApp(''), 'server.js': SERVER, 'tancho.yaml': settings }, ann);
    const pushed = await work.push(sshUrl(world, 'hanging'));
    await work.dispose();
    expect(pushed.code, pushed.stderr).toBe(0);
    const first = (await world.fetchApp('hanging')).text;
    await world.end('SIGKILL');
    await untilKept();
    // It stands still from now on, alive: nobody may notice but by looking.
    process.kill(await mainPid('hanging'), 'SIGSTOP');
    await until(
      async () => {
        const found = await Promise.race([world.fetchApp('hanging').catch(() => null), delay(1_000, null)]);
        return found?.status === 200 && found.text !== first;
      },
      { timeoutMs: 120_000, what: 'another process of the unit' },
    );
    await world.startAgain();
    const log = await world.api('GET', '/apps/hanging/log?lines=50&source=tancho', { token });
    expect(log.text).toMatch(/while the platform was away; it was started again meanwhile/);
  }, 300_000);

  it('everything can be stopped, and the next start brings the apps back', async () => {
    await world.end('SIGTERM');
    await untilKept();
    const stopped = await world.cli(['server', 'stop', '--all']);
    expect(stopped.code, stopped.stderr).toBe(0);
    await allGone(await processesOf(world.home));
    expect(await processesOf(world.home)).toEqual([]);
    await world.startAgain();
    await until(async () => (await world.fetchApp('steady')).status === 200, { what: 'the app to be back' });
  });
});

/** Of one unit of the app, as this process sees it. */
async function mainPid(app: string): Promise<number> {
  const units = path.join(world.home, 'units');
  for (const name of await readdir(units)) {
    const text = await readFile(path.join(units, name, 'unit.json'), 'utf8').catch(() => '{}');
    const found = JSON.parse(text) as { app?: string; state?: string; mainPid?: number };
    if (found.app === app && found.state === 'running' && found.mainPid !== undefined) return found.mainPid;
  }
  throw new Error(`no unit of ${app} runs`);
}
