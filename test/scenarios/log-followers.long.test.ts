/**
 * Two hundred people follow the log of an app that prints all the time, over Server-Sent Events, while another app prints as much as it can. Some of them read slowly, and some read
 * nothing at all: it costs neither the others nor the collector a line.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { archive, deployArchive } from '../support/archives.ts';
import { nodeApp } from '../support/git.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from '../support/world.ts';

const QUICK = 180;
const SLOW = 10;
const SILENT = 10;
/** One may follow so many at one time. */
const EACH = 40;
const LINES = rounds(3_000, 10_000);
/** Of the other app, in which nobody is interested. */
const FULL_LINES = rounds(60_000, 200_000);
const WAIT_MS = 300_000;
/** Of up to 2.4 GB that are sent, with the thread that reads what much is printed of. */
const MOST_GROWTH_MB = 150;
const SLOW_BYTES = 32 * 1024;
const SLOW_MS = 100;
/** So that what nobody reads is more than the buffers of the system hold. */
const PADDING = 1_000;

/** Asked for `/<number>` it prints so many numbered lines, a hundred at a time; `full` without a pause. */
const printer = (pauseMs: number): string => `
const fs = require('node:fs');
const write = (text) => { const all = Buffer.from(text); for (let done = 0; done < all.length;) done += fs.writeSync(1, all, done); };
let next = 0;
const go = (most) => {
  let text = '';
  for (let n = 0; n < 100 && next < most; n++) text += 'n ' + next++ + ' of ' + 'x'.repeat(most === ${LINES} ? ${PADDING} : 0) + '\\n';
  write(text);
  if (next < most) setTimeout(go, ${pauseMs}, most);
};
require('node:http').createServer((request, response) => {
  response.end('ok');
  const most = Number(request.url.slice(1));
  if (most > 0) go(most);
}).listen(process.env.PORT);
`;

let world: World;
let token: string;
const tokens: string[] = [];
const requests: http.ClientRequest[] = [];

beforeAll(async () => {
  world = await startWorld();
  token = await world.login();
  for (const [name, pauseMs] of [
    ['busy', 200],
    ['full', 0],
  ] as const) {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs', teamOwner: 'main' }) });
    const code = await archive({ ...nodeApp(''), 'server.js': printer(pauseMs) });
    expect(await deployArchive(world, token, name, code)).toMatch(/\nOK\n$/);
  }
  for (let person = 0; person * EACH < QUICK + SLOW + SILENT; person++) {
    const [email, password] = [`person${person}@example.com`, 'secret word'];
    await world.api('POST', '/users', { token, body: JSON.stringify({ email, password }) });
    const added = await world.api('PUT', `/teams/main/${email}`, { token });
    expect(added.status, added.text).toBe(200);
    tokens.push(await world.login(email, password));
  }
});
afterAll(async () => {
  for (const request of requests) request.destroy();
  await world.dispose();
});

/** Its numbers in the order in which they came; that they are those from 0 on is seen at once, so that nothing has to be kept. */
class Follower {
  seen = 0;
  #rest = '';

  take(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const number = /"Message":"n (\d+) of/.exec(line)?.[1];
      if (number === undefined) continue;
      if (Number(number) !== this.seen) throw new Error(`${number} came in place of ${this.seen}`);
      this.seen += 1;
    }
  }
}

/** `read`: how the answer is read. Resolves when it has begun. */
async function follow(
  number: number,
  read: (answer: http.IncomingMessage, follower: Follower) => void,
): Promise<Follower> {
  const follower = new Follower();
  const authorization = `bearer ${tokens[Math.floor(number / EACH)] ?? ''}`;
  const headers = { authorization, accept: 'text/event-stream' };
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.get(`${world.apiUrl}/apps/busy/log?lines=0&source=web`, { headers, agent: false }, resolve);
    requests.push(request.on('error', reject));
  });
  answer.on('error', () => undefined);
  expect(answer.statusCode).toBe(200);
  read(answer, follower);
  return follower;
}

function quickly(answer: http.IncomingMessage, follower: Follower): void {
  answer.setEncoding('utf8').on('data', (text: string) => follower.take(text));
}

/** A little at a time, with pauses: far less than is printed. */
function slowly(answer: http.IncomingMessage, follower: Follower): void {
  answer.setEncoding('utf8');
  const more = (): void => {
    if (answer.destroyed) return;
    const text = answer.read(Math.min(SLOW_BYTES, answer.readableLength)) as string | null;
    if (text !== null) follower.take(text);
    setTimeout(more, SLOW_MS).unref();
  };
  more();
}

async function numbersOf(app: string): Promise<number[]> {
  const numbers: number[] = [];
  for (let after = 'c0'; ;) {
    const page = (await world.api('GET', `/apps/${app}/log?lines=10000&after=${after}`, { token })).json<
      { Message: string; Cursor: string; Source: string }[]
    >();
    for (const { Message, Source } of page) {
      const number = /^n (\d+) of/.exec(Message)?.[1];
      if (number !== undefined) numbers.push(Number(number));
      if (Source === 'tancho' && Message.includes('missing')) throw new Error(Message);
    }
    const last = page.at(-1);
    if (last === undefined) return numbers;
    after = last.Cursor;
  }
}

const peakMb = (): number =>
  Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${world.pid}/status`, 'latin1'))?.[1]) / 1024;

it(`${QUICK} of ${QUICK + SLOW + SILENT} see each line once and in order, whatever the others do, and the log has all of them`, async () => {
  const silent = await Promise.all(
    Array.from({ length: SILENT }, (_, at) => follow(QUICK + SLOW + at, () => undefined)),
  );
  const slow = await Promise.all(Array.from({ length: SLOW }, (_, at) => follow(QUICK + at, slowly)));
  const quick = await Promise.all(Array.from({ length: QUICK }, (_, at) => follow(at, quickly)));
  const before = peakMb();
  await world.fetchApp('full', `/${FULL_LINES}`);
  await world.fetchApp('busy', `/${LINES}`);
  await until(() => quick.every(({ seen }) => seen === LINES), {
    timeoutMs: WAIT_MS,
    what: 'all who read to have seen all lines',
    detail: () => quick.map(({ seen }) => seen).join(' '),
  });
  const behind = slow.map(({ seen }) => seen);
  const growth = peakMb() - before;
  console.log(
    `when the quick had all: the slow had ${behind.join(' ')}; control had grown by ${Math.round(growth)} MB`,
  );
  expect(silent.map(({ seen }) => seen)).toEqual(silent.map(() => 0));
  expect(growth).toBeLessThan(MOST_GROWTH_MB);
  for (const [app, most] of [
    ['busy', LINES],
    ['full', FULL_LINES],
  ] as const) {
    await until(
      async () =>
        (await world.api('GET', `/apps/${app}/log?lines=1&source=web`, { token })).text.includes(`"n ${most - 1} of`),
      { timeoutMs: WAIT_MS, what: `the last line of ${app} to be stored` },
    );
    const numbers = await numbersOf(app);
    expect(numbers.length, app).toBe(most);
    expect(
      numbers.every((number, at) => number === at),
      app,
    ).toBe(true);
  }
  await until(() => slow.every(({ seen }) => seen === LINES), {
    timeoutMs: WAIT_MS,
    what: 'the slow to have seen all lines, too',
    detail: () => slow.map(({ seen }) => seen).join(' '),
  });
});
