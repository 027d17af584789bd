/** Twenty units number their lines while control is killed again and again: each number is in the log once, or in a gap that says so. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPush, createIdentity, createWorkTree, type Identity, sshUrl, type WorkTree } from '../support/git.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const UNITS = 20;
const LINES = rounds(4_000, 10_000);
const KILLS = 4;
/** Stored between two kills. */
const BETWEEN = rounds(8_000, 20_000);
const LONG_BYTES = 1_000_000;
const WAIT_MS = 180_000;

let world: World;
let ann: Identity;
let work: WorkTree;
let token: string;

beforeAll(async () => {
  world = await startWorld();
  ann = await createIdentity();
  token = await allowPush(world, ann);
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'numbers', platform: 'nodejs' }) });
  work = await createWorkTree(
    {
      Procfile: 'web: node server.js\n',
      'package.json': '{ "name": "numbers", "version": "1.0.0", "private": true }\n',
      'server.js': app(),
    },
    ann,
  );
  const pushed = await work.push(sshUrl(world, 'numbers'));
  expect(pushed.code, pushed.stderr).toBe(0);
  const added = await world.api('PUT', `/apps/numbers/units?units=${UNITS - 1}`, { token });
  expect(added.status, added.text).toBe(200);
  // The first start has chosen free ports, which are settings from now on.
  await world.end('SIGTERM');
  await world.startAgain();
});

afterAll(async () => {
  await work.dispose();
  await world.dispose();
  await ann.dispose();
});

/**
 * Prints `<own id> <number>` when it is first asked for anything, in pieces that end within lines. Among the first are a very long
 * one, one that is no UTF-8 and one with a carriage return.
 */
function app(): string {
  return `const { writeSync } = require('node:fs');
const id = process.pid + '-' + process.hrtime.bigint();
let next = 0;
let rest = Buffer.alloc(0);
const text = (number) => {
  const line = id + ' ' + number;
  if (number === 7) return Buffer.concat([Buffer.from(line + ' '), Buffer.of(0xff, 0xfe, 0xc3), Buffer.from('\\n')]);
  if (number === 8) return Buffer.from(line + '\\r\\n');
  if (number === 9) return Buffer.from(line + ' ' + 'L'.repeat(${LONG_BYTES}) + '\\n');
  return Buffer.from(line + ' ' + 'lorem ipsum '.repeat(number % 12) + '\\n');
};
const write = (bytes) => { for (let done = 0; done < bytes.length;) done += writeSync(1, bytes, done); };
function go() {
  const lines = [rest];
  for (let line = 0; line < 100 && next < ${LINES}; line++) lines.push(text(next++));
  const all = Buffer.concat(lines);
  const cut = next < ${LINES} ? all.length - 9 : all.length;
  rest = Buffer.from(all.subarray(cut));
  write(all.subarray(0, cut));
  if (next < ${LINES}) setTimeout(go, 40);
}
let isGoing = false;
require('node:http').createServer((request, response) => {
  response.setHeader('connection', 'close').end(id);
  if (isGoing) return;
  isGoing = true;
  go();
}).listen(process.env.PORT);
`;
}

interface Entry {
  readonly Message: string;
  readonly Source: string;
  readonly Unit: string;
  readonly Cursor: string;
}

async function log(query: string): Promise<readonly Entry[]> {
  const answer = await world.api('GET', `/apps/numbers/log?${query}`, { token });
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  return answer.json<Entry[]>();
}

async function everything(): Promise<Entry[]> {
  const all: Entry[] = [];
  for (let after = 'c0'; ;) {
    const page = await log(`lines=0&after=${after}`);
    const last = page.at(-1);
    if (last === undefined) return all;
    for (const entry of page) all.push(entry);
    after = last.Cursor;
  }
}

/** The number in a cursor grows with each entry. */
async function stored(): Promise<number> {
  const [newest] = await log('lines=1');
  return Number.parseInt(newest?.Cursor.slice(1) ?? '0', 36);
}

async function lastNumbers(): Promise<number> {
  return (await log(`lines=0&search=${encodeURIComponent(` ${LINES - 1}`)}&source=web`)).length;
}

it(`keeps every number in its place over ${KILLS} kills of control`, async () => {
  const going = new Set<string>();
  await until(async () => going.add((await world.fetchApp('numbers')).text).size === UNITS, {
    timeoutMs: WAIT_MS,
    everyMs: 1,
    what: 'every unit to begin',
  });
  for (let kill = 1; kill <= KILLS; kill++) {
    const from = await stored();
    await until(async () => (await stored()) >= from + BETWEEN || (await lastNumbers()) === UNITS, {
      timeoutMs: WAIT_MS,
      everyMs: 50,
      what: `${BETWEEN} lines to be stored`,
    });
    await world.end('SIGKILL');
    await world.startAgain();
  }
  await until(async () => (await lastNumbers()) === UNITS, {
    timeoutMs: WAIT_MS,
    everyMs: 200,
    what: 'the last lines',
  });

  const entries = await everything();
  const cursors = entries.map(({ Cursor }) => Number.parseInt(Cursor.slice(1), 36));
  expect(cursors).toEqual([...new Set(cursors)].sort((a, b) => a - b));
  const units = Map.groupBy(
    entries.filter(({ Source }) => Source !== 'hook'),
    ({ Unit }) => Unit,
  );
  let printed = 0;
  for (const [unit, lines] of units) {
    if (!unit.startsWith('numbers/')) continue;
    printed += 1;
    const { missing, numbers, long } = judged(lines);
    expect({ unit, numbers: numbers + missing, long }).toEqual({ unit, numbers: LINES, long: LONG_BYTES });
  }
  expect(printed).toBe(UNITS);
});

/** Throws where a number is out of place. */
function judged(lines: readonly Entry[]): { numbers: number; missing: number; long: number } {
  let [next, numbers, missing, long] = [0, 0, 0, 0];
  for (const { Message, Source } of lines) {
    const gap = Source === 'tancho' ? /^(\d+) lines? (?:is|are) missing here/.exec(Message) : null;
    if (gap !== null) {
      missing += Number(gap[1]);
      next += Number(gap[1]);
      continue;
    }
    const line = /^\d+-\d+ (\d+)(?: (.*))?$/.exec(Message);
    long += (Message.match(/L+/)?.[0] ?? '').length;
    if (line === null) continue;
    const number = Number(line[1]);
    expect(number).toBe(next);
    if (number === 7) expect(line[2]).toMatch(/^\uFFFD+$/);
    if (number === 8) expect(Message.endsWith('8')).toBe(true);
    next += 1;
    numbers += 1;
  }
  return { numbers, missing, long };
}
