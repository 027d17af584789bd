import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { KubernetesClient } from './client.ts';
import { KINDS } from './kinds.ts';
import type { LogLine } from './logs.ts';
import { ApiServer, type Nodes } from './testing/api-server.ts';

const NEVER = new AbortController().signal;
const POD = { name: 'shop', namespace: 'test' };
const FAILED = {
  status: 'Failure',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '3' }] },
};

let server: ApiServer;
let client: KubernetesClient;
let asked: { command: readonly string[]; query: URLSearchParams } | null;
let live: WebSocket | null;
let messages: Buffer[];

/** Sends back what it receives; `end` ends it, with 3. */
const echo: Nodes = {
  log(_pod, query, response) {
    response.write('2026-11-25T10:00:00.5Z one\n2026-11-25T12:00:01.25+02:00 two\n');
    if (query.get('follow') === 'true') setImmediate(() => response.end('2026-11-25T10:00:02.123456789Z three'));
    else response.end();
  },
  stats: () => ({}),
  exec(_pod, command, query, socket) {
    asked = { command, query };
    live = socket;
    const say = (stream: number, text: string): void =>
      socket.send(Buffer.concat([Uint8Array.of(stream), Buffer.from(text)]));
    socket.on('message', (data) => {
      const bytes = Buffer.from(data as Buffer);
      messages.push(bytes);
      const text = bytes.subarray(1).toString();
      if (bytes[0] !== 0) return;
      if (text === 'vanish') return socket.terminate();
      say(1, `out ${text}`);
      say(2, `err ${text}`);
      if (text !== 'end' && text !== 'well') return;
      say(3, JSON.stringify(text === 'end' ? FAILED : { status: 'Success' }));
      socket.close();
    });
  },
};

beforeEach(async () => {
  [asked, live, messages] = [null, null, []];
  server = new ApiServer({ nodes: echo });
  await server.start();
  client = new KubernetesClient(server.access());
  await client.create(KINDS.pods, { metadata: POD, spec: { containers: [] } });
});
afterEach(async () => {
  client.close();
  await server.close();
});

async function opened(isTerminal = false, signal = NEVER) {
  const printed = { output: '', errors: '' };
  const process = await client.exec(POD, {
    container: 'app',
    command: ['sh', '-c', 'echo "a b"'],
    hasInput: true,
    isTerminal,
    onOutput: (bytes, stream) => (printed[stream] += bytes.toString()),
    signal,
  });
  return { process, printed };
}

it('runs a program with input, both outputs and its exit code', async () => {
  const { process, printed } = await opened();
  expect(asked?.command).toEqual(['sh', '-c', 'echo "a b"']);
  expect(asked?.query.get('stderr')).toBe('true');
  await process.write(Buffer.from('x'));
  await process.write(Buffer.from('end'));
  expect(await process.ended).toBe(3);
  expect(printed).toEqual({ output: 'out xout end', errors: 'err xerr end' });
  const next = await opened();
  await next.process.write(Buffer.from('well'));
  expect(await next.process.ended).toBe(0);
});

it('reports the size of the terminal, and the end of what is typed', async () => {
  const { process } = await opened(true);
  expect([asked?.query.get('tty'), asked?.query.get('stderr')]).toEqual(['true', 'false']);
  process.resize({ columns: 100, rows: 30 });
  process.endInput();
  await expect.poll(() => messages.length).toBe(2);
  expect(messages[0]?.[0]).toBe(4);
  expect(JSON.parse(messages[0]?.subarray(1).toString() ?? '')).toEqual({ Width: 100, Height: 30 });
  expect([...(messages[1] ?? [])]).toEqual([255, 0]);
  live?.terminate();
  await expect(process.ended).rejects.toMatchObject({ status: 0 });
});

it('holds output back and goes on with it', async () => {
  const { process, printed } = await opened();
  process.hold(true);
  await process.write(Buffer.from('later'));
  await expect.poll(() => messages.length).toBe(1);
  expect(printed.output).toBe('');
  process.hold(false);
  await expect.poll(() => printed.output).toBe('out later');
});

it('says that the end is not known when the connection breaks, and leaves when asked to', async () => {
  const broken = await opened();
  await broken.process.write(Buffer.from('vanish'));
  await expect(broken.process.ended).rejects.toMatchObject({
    status: 0,
    message: expect.stringContaining('without a result') as string,
  });
  const stop = new AbortController();
  const left = await opened(false, stop.signal);
  stop.abort();
  await expect(left.process.ended).rejects.toMatchObject({ status: 0 });
  const none = client.exec(
    { ...POD, name: 'none' },
    { container: 'a', hasInput: false, isTerminal: false, onOutput: () => {}, signal: NEVER },
  );
  await expect(none).rejects.toMatchObject({ status: 404, reason: 'NotFound' });
});

it('reads lines with the time of the node, in UTC, to the nanosecond', async () => {
  const read = async (isFollowed: boolean): Promise<LogLine[]> => {
    const lines: LogLine[] = [];
    const options = { container: 'app', follow: isFollowed, since: '2026-11-25T09:00:00.123Z' };
    for await (const part of client.log(POD, options, NEVER)) lines.push(...part);
    return lines;
  };
  const two = [
    { at: '2026-11-25T10:00:00.500000000Z', text: 'one' },
    { at: '2026-11-25T10:00:01.250000000Z', text: 'two' },
  ];
  expect(await read(false)).toEqual(two);
  expect(await read(true)).toEqual([...two, { at: '2026-11-25T10:00:02.123456789Z', text: 'three' }]);
  expect(server.requests.at(-1)).toContain('sinceTime=2026-11-25T09%3A00%3A00Z');
});
