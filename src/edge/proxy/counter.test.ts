/**
 * The counter of failed requests against a load generator that knows nothing of the edge: after many rollouts, among clients that leave,
 * slow ones, uploads and websockets, both have counted the same.
 */
import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { Target } from '../../domain/routes/router.ts';
import { EdgeRig } from '../../../test/support/edge-rig.ts';
import { SLOW } from '../../../test/support/slow.ts';
import { until } from '../../../test/support/until.ts';

const ROLLOUTS = SLOW ? 200 : 20;
const UPLOAD = Buffer.alloc(100_000, 'x');
const HALF_CLOSED_MS = 200;

let rig: EdgeRig;
afterEach(() => rig.stop());

/** A unit, and what a test makes it do. */
class CountedUnit {
  target: Target = { unit: '', host: '', port: 0 };
  /** Answers that wait for finish(). */
  readonly pending: ServerResponse[] = [];
  streams = 0;
  readonly sockets: Socket[] = [];

  static async start(): Promise<CountedUnit> {
    const unit = new CountedUnit();
    unit.target = await rig.httpUnit(
      (incoming, response) => unit.#answer(incoming, response),
      (incoming, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
        unit.sockets.push(socket);
        incoming.resume();
      },
    );
    return unit;
  }

  #answer(incoming: IncomingMessage, response: ServerResponse): void {
    const path = incoming.url ?? '';
    if (path === '/stream') {
      this.streams++;
      response.once('close', () => this.streams--);
      response.write('data: 1\n\n');
    } else if (path === '/half') {
      response.write('half ');
      this.pending.push(response);
    } else if (path === '/slow') {
      this.pending.push(response);
    } else {
      let size = 0;
      incoming.on('data', (chunk: Buffer) => (size += chunk.length));
      incoming.on('end', () => response.end(String(size)));
    }
  }

  finish(): void {
    for (const response of this.pending.splice(0)) response.end('whole');
  }
}

/** What became of the requests of clients that did not leave. */
class Generator {
  failures = 0;
  answers = 0;
  readonly #agent = new Agent({ keepAlive: true });

  /** Resolves when the request has come to its end, whichever. */
  async send(method: string, path: string, body?: Buffer): Promise<void> {
    const sent = this.#request(method, path);
    const outcome = new Promise<boolean>((resolve) => {
      sent.on('error', () => resolve(false));
      sent.on('response', (response) => {
        response.resume();
        response.on('error', () => resolve(false));
        response.on('end', () => resolve(response.statusCode === 200 && response.complete));
      });
    });
    sent.end(body);
    if (await outcome) this.answers++;
    else this.failures++;
  }

  /** Leaves once `when` resolves, given the request. */
  async leave(path: string, when: (sent: ClientRequest) => Promise<unknown>): Promise<void> {
    const sent = this.#request('GET', path, false);
    sent.on('error', () => {});
    sent.on('response', (response) => response.on('error', () => {}).resume());
    sent.end();
    await when(sent);
    sent.destroy();
  }

  /** Resolves when the handshake is done; the websocket is whole when it ends. */
  async websocket(): Promise<{ readonly ended: Promise<unknown> }> {
    const sent = this.#request('GET', '/socket', false, { connection: 'Upgrade', upgrade: 'websocket' });
    sent.end();
    const socket = await new Promise<Socket>((resolve, reject) => {
      sent.on('upgrade', (_, upgraded) => resolve(upgraded as Socket));
      sent.on('error', reject);
    });
    socket.on('error', () => {});
    return { ended: new Promise((resolve) => socket.resume().once('close', resolve)) };
  }

  stop(): void {
    this.#agent.destroy();
  }

  #request(method: string, path: string, kept = true, more: Record<string, string> = {}): ClientRequest {
    const headers = { host: 'blog.test', ...more };
    return request({ port: rig.port, method, path, headers, agent: kept ? this.#agent : false });
  }
}

/** One rollout: clients of every kind, some leave, the table changes, the old unit ends; `abrupt`: in the middle of its answers. */
async function rollout(generator: Generator, old: CountedUnit, abrupt: boolean): Promise<CountedUnit> {
  const left = [
    generator.leave('/stream', (sent) => new Promise((resolve) => sent.once('response', resolve))),
    generator.leave('/slow', () => until(() => old.pending.length > 0, { what: 'a request to wait' })),
  ];
  // Says that it has left by the end of its stream alone, and the unit stays silent.
  const halfClosed = await rig.client();
  halfClosed.send('GET /stream HTTP/1.1\r\nHost: blog.test\r\n\r\n');
  await halfClosed.until(/data: 1/);
  halfClosed.socket.end();
  await Promise.all([...left, halfClosed.rest()]);
  await until(() => old.streams === 0 && old.pending.every(({ destroyed }) => destroyed), {
    what: 'the unit to hear that they have left',
  });
  old.pending.length = 0;

  const socket = await generator.websocket();
  const sending = [generator.send('GET', '/half'), generator.send('GET', '/slow'), generator.send('POST', '/slow')];
  await until(() => old.pending.length === 3, { what: 'three answers to be under way' });
  const quick = [generator.send('GET', '/'), generator.send('POST', '/upload', UPLOAD)];
  if (abrupt) await Promise.all(quick);
  const next = await CountedUnit.start();
  await rig.route(next.target);
  const after = [generator.send('GET', '/'), generator.send('PUT', '/upload', UPLOAD)];
  if (!abrupt) {
    const drained = rig.plane.drained([old.target.unit], 60_000);
    old.finish();
    expect(await drained).toBe(0);
    for (const upgraded of old.sockets) upgraded.end('goodbye');
  }
  await rig.kill(old.target);
  await socket.ended;
  // What may be repeated now waits at the new unit.
  if (abrupt) await until(() => next.pending.length === 1, { what: 'the request that may be repeated' });
  next.finish();
  await Promise.all([...sending, ...quick, ...after]);
  return next;
}

it(`counts what an independent load generator counts, over ${ROLLOUTS} rollouts`, { timeout: 600_000 }, async () => {
  rig = await EdgeRig.start({ timeouts: { halfClosedMs: HALF_CLOSED_MS } });
  const generator = new Generator();
  let unit = await CountedUnit.start();
  await rig.route(unit.target);
  let expected = 0;
  for (let n = 0; n < ROLLOUTS; n++) {
    const abrupt = n % 4 === 3;
    unit = await rollout(generator, unit, abrupt);
    // Half an answer, and a POST that nobody may repeat.
    expected += abrupt ? 2 : 0;
    expect(generator.failures).toBe(expected);
    expect((await rig.plane.traffic('blog')).failures).toBe(generator.failures);
  }
  expect(generator.answers).toBe(ROLLOUTS * 7 - expected);
  generator.stop();
});

it('counts what it cuts off itself when it ends', async () => {
  rig = await EdgeRig.start();
  const generator = new Generator();
  const unit = await CountedUnit.start();
  await rig.route(unit.target);
  const sending = [generator.send('GET', '/half'), generator.send('GET', '/slow')];
  await until(() => unit.pending.length === 2, { what: 'two answers to be under way' });
  await rig.plane.stop(0);
  await Promise.all(sending);
  expect(generator.failures).toBe(2);
  expect((await rig.plane.traffic('blog')).failures).toBe(2);
  generator.stop();
});
