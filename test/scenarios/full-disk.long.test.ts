/**
 * An app has filled the disk of the platform to the last block: nothing that was there is lost or half, apps go on serving,
 * whoever asks for more reads who holds most. When there is room again everything goes on by itself, and the log says what it lacks.
 */
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it, type TestContext } from 'vitest';
import { archive, deployArchive } from '../support/archives.ts';
import {
  allowPush,
  createIdentity,
  createWorkTree,
  type Identity,
  nodeApp,
  sshUrl,
  type WorkTree,
} from '../support/git.ts';
import { createLoad } from '../support/load.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { type HttpAnswer, startWorld, type World } from '../support/world.ts';

const MIB = 1024 ** 2;
const DISK_MIB = 1_024;
const LIMITS = { TANCHO_DISK_RESERVE: '256M', TANCHO_UNITS_DISK: '0' };
const FULL =
  /The disk of the server is full: 0 MiB of \d+ MiB are free.* Most is held by volume of filler \(\d+ MiB\), /;

/** Asked for `/fill` it takes all there is, and what becomes free, too, until it is asked for `/leave`. */
const FILLER = `
const fs = require('node:fs');
let [timer, file] = [null, 0];
const take = () => {
  for (const size of [1 << 20, 1 << 16, 1 << 12]) {
    const block = Buffer.alloc(size, 'x');
    try { for (let n = 0; n < 8; n++) fs.writeSync(file, block); } catch {}
  }
};
require('node:http').createServer((request, response) => {
  if (request.url === '/fill') { file ||= fs.openSync('/data/taken', 'a'); timer ??= setInterval(take, 5); }
  if (request.url === '/leave') { clearInterval(timer); fs.closeSync(file); fs.rmSync('/data/taken'); [timer, file] = [null, 0]; }
  response.end('ok');
}).listen(process.env.PORT);
`;

/** Numbers its lines, and answers the next number and those that the system did not take. */
const PRINTER = `
const fs = require('node:fs');
const refused = [];
let next = 0;
setInterval(() => {
  for (let n = 0; n < 10; n++) {
    const line = Buffer.from('n ' + next + ' ' + 'x'.repeat(200) + '\\n');
    try { for (let done = 0; done < line.length;) done += fs.writeSync(1, line, done); } catch { refused.push(next); }
    next++;
  }
}, 20);
require('node:http').createServer((request, response) => response.end(JSON.stringify({ next, refused }))).listen(process.env.PORT);
`;

interface Setting {
  readonly world: World;
  readonly token: string;
  readonly tree: WorkTree;
  readonly freeBytes: () => Promise<number>;
}

let disk: SmallDisk | string;
let world: World | null;
let ann: Identity;
beforeEach(async () => {
  [disk, world, ann] = [await smallDisk(DISK_MIB * MIB, 100_000), null, await createIdentity()];
});
afterEach(async () => {
  await world?.fetchApp('filler', '/leave').catch(() => undefined);
  await world?.dispose();
  await ann.dispose();
  if (typeof disk !== 'string') await disk.dispose();
});

async function withThreeApps(context: TestContext): Promise<Setting> {
  if (typeof disk === 'string') return context.skip(disk);
  const { directory } = disk;
  const one = (world = await startWorld({ home: path.join(directory, 'home'), env: LIMITS }));
  const token = await allowPush(one, ann);
  for (const name of ['steady', 'filler', 'printer']) {
    const made = await one.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
    expect(made.status, made.text).toBe(200);
  }
  const tree = await createWorkTree(nodeApp('version 1'), ann);
  const first = await tree.push(sshUrl(one, 'steady'));
  expect(first.code, first.stderr).toBe(0);
  for (const [app, code] of Object.entries({ filler: FILLER, printer: PRINTER })) {
    const said = await deployArchive(one, token, app, await archive({ ...nodeApp(''), 'server.js': code }));
    expect(said).toMatch(/\nOK\n$/);
  }
  for (const argv of [
    ['volume', 'create', 'data', '--size', '10G', '-a', 'filler'],
    ['volume', 'mount', 'data', '/data', '-a', 'filler'],
  ]) {
    const { code, stderr } = await one.cli(argv);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  }
  const freeBytes = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  };
  return { world: one, token, tree, freeBytes };
}

async function fill({ world: one, freeBytes }: Setting): Promise<void> {
  await one.fetchApp('filler', '/fill');
  await until(async () => (await freeBytes()) < 4_096, { everyMs: 5, what: 'the disk to be full' });
}

function setEnv({ world: one, token }: Setting, value: string): Promise<HttpAnswer> {
  return one.api('POST', '/apps/steady/env', { token, body: JSON.stringify({ GREETING: value }) });
}

function areWhole(home: string): void {
  for (const file of ['tancho.db', 'logs.db']) {
    const db = new DatabaseSync(path.join(home, file), { readOnly: true });
    expect(db.prepare('pragma integrity_check').all(), file).toEqual([{ integrity_check: 'ok' }]);
    db.close();
  }
}

interface Printed {
  readonly numbers: number[];
  /** Lines that the log itself says are missing, and whether it says that there may be others. */
  readonly inGaps: number;
  readonly isRefusalTold: boolean;
}

async function printed({ world: one, token }: Setting): Promise<Printed> {
  const found: { Message: string; Source: string; Cursor: string }[] = [];
  for (let after = 'c0'; ;) {
    const answer = await one.api('GET', `/apps/printer/log?lines=10000&after=${after}`, { token });
    const page = answer.json<typeof found>();
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < 5_000) break;
    after = last.Cursor;
  }
  const texts = found.map(({ Message }) => Message);
  const gaps = texts.map((text) => Number(/^(\d+) lines? (?:is|are) missing here/.exec(text)?.[1] ?? 0));
  return {
    numbers: texts.flatMap((text) => [...text.matchAll(/n (\d+) x{200}/g)].map(([, number]) => Number(number))),
    inGaps: gaps.reduce((sum, gap) => sum + gap, 0),
    isRefusalTold: texts.some((text) =>
      /^Lines of web printer\/\d+ may be missing from \S+ to \S+: the disk of the server was full/.test(text),
    ),
  };
}

it('refuses changes with the names of those who hold most, goes on serving, and goes on by itself when there is room', async (context) => {
  const setting = await withThreeApps(context);
  const { world: one, token, tree } = setting;
  const url = sshUrl(one, 'steady');
  expect((await setEnv(setting, 'before')).text).not.toContain('"Error"');
  const load = createLoad(one, 'steady', 2);
  await fill(setting);

  await load.reached(500);
  const refused = await setEnv(setting, 'meanwhile');
  expect([refused.status, refused.text]).toEqual([503, expect.stringMatching(FULL)]);
  await tree.write(nodeApp('version 2'));
  const commit = await tree.commit('version 2');
  const pushed = await tree.push(url);
  expect(pushed.code).not.toBe(0);
  expect(pushed.stderr).toMatch(FULL);
  for (const seen of ['/apps', '/apps/steady', '/disk', '/apps/steady/log?lines=5']) {
    expect((await one.api('GET', seen, { token })).status, seen).toBe(200);
  }
  expect((await one.fetchApp('steady', '/env')).text).toBe('before');
  // Until the printer has nothing left of the room that was held for it: the system reports that.
  await until(async () => (await one.fetchApp('printer')).json<{ refused: number[] }>().refused.length > 0, {
    timeoutMs: 120_000,
    what: 'the system to refuse what is printed',
  });

  await one.fetchApp('filler', '/leave');
  await until(async () => (await setEnv(setting, 'after')).status === 200, { what: 'a variable to be set' });
  expect((await one.fetchApp('steady', '/env')).text).toBe('after');
  const again = await tree.push(url);
  expect(again.code, again.stderr).toBe(0);
  expect((await one.fetchApp('steady')).text).toBe('version 2');
  expect(again.stderr).not.toContain(`${commit} already`);
  const { requests, failures } = await load.stop();
  expect(failures).toEqual([]);
  console.log(`${requests} requests, none failed`);

  const { next, refused: unprinted } = (await one.fetchApp('printer')).json<{ next: number; refused: number[] }>();
  await until(async () => (await printed(setting)).numbers.includes(next - 1), { what: 'the log to go on' });
  const log = await printed(setting);
  const own = log.numbers.filter((number) => number < next);
  expect(new Set(own).size, 'no line twice').toBe(own.length);
  expect(
    own.length + log.inGaps + unprinted.length,
    'every line is there, or missing by the log, or was never printed',
  ).toBe(next);
  expect(log.isRefusalTold).toBe(true);
  console.log(
    `${next} lines: ${own.length} in the log, ${log.inGaps} in gaps, ${unprinted.length} refused by the system`,
  );
  const verified = await one.cli(['event', 'verify']);
  expect(verified.code, verified.stderr).toBe(0);
  areWhole(one.home);
  await tree.dispose();
});

it('kill -9 of control meanwhile: apps serve, the next start says what is wrong, and is one when there is room', async (context) => {
  const setting = await withThreeApps(context);
  const { world: one, token, tree } = setting;
  expect((await setEnv(setting, 'before')).status).toBe(200);
  const load = createLoad(one, 'steady', 2);
  await fill(setting);
  await one.end('SIGKILL');
  await load.reached(500);
  const start = await one.startAgain().then(
    () => 'ready',
    (error: unknown) => String(error),
  );
  if (start !== 'ready') expect(start).toMatch(/The disk of \S+ is full.\n\s+Hint: Make room there, then start again/);
  await one.fetchApp('filler', '/leave');
  if (start !== 'ready') await one.startAgain();
  const { requests, failures } = await load.stop();
  expect(failures).toEqual([]);
  console.log(`${requests} requests, none failed; the start: ${start}`);
  expect((await one.fetchApp('steady', '/env')).text).toBe('before');
  const apps = (await one.api('GET', '/apps', { token })).json<{ Name: string; Units: { State: string }[] }[]>();
  expect(apps.map(({ Name, Units }) => [Name, ...Units.map(({ State }) => State)])).toEqual(
    ['filler', 'printer', 'steady'].map((name) => [name, 'started']),
  );
  await until(async () => (await setEnv(setting, 'after')).status === 200, { what: 'a variable to be set' });
  areWhole(one.home);
  await tree.dispose();
});
