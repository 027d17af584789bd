import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PlatformError } from '../domain/errors.ts';
import type { CommandOutput } from './operation.ts';
import { answerOutput, answerProgress, UNTIL_THE_END } from './progress-answer.ts';
import { ResponseStream } from './response-stream.ts';

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done)))));

interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
  readonly trailers: IncomingMessage['trailers'];
}

/** Serves one answer; what it rejects with becomes a 500, as the server's error handler would do. */
/** `begun`: the status has come. */
async function serve(
  answer: (stream: ResponseStream) => Promise<void>,
): Promise<{ port: number; begun: Promise<void>; got: Promise<Got> }> {
  const server = createServer((_request, response) => {
    answer(new ResponseStream(response, () => ({ 'x-common': 'yes' }))).catch((error: Error) => {
      response.writeHead(500).end(error.message);
    });
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const { opened: begun, open: begin } = gate();
  const got = new Promise<Got>((resolve, reject) => {
    get({ port, agent: false }, (response) => {
      begin();
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject).on('end', () => {
        const { statusCode: status = 0, headers, trailers } = response;
        resolve({ status, text, headers, trailers });
      });
    }).on('error', reject);
  });
  return { port, begun, got };
}

const FAILURE = new PlatformError('unit.failed', 'The unit exited.', { hint: 'See the log.' });
const late: unknown[] = [];
const onLateError = (thrown: unknown): void => void late.push(thrown);

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('progress', () => {
  const progress = (work: (say: (line: string) => void) => Promise<void>, holdMs: number) =>
    serve((stream) => answerProgress(stream, work, { onLateError, holdMs, asText: false }));

  it('is one message per line', async () => {
    const { got } = await progress(async (say) => ['one', 'two "2"'].forEach(say), 10_000);
    const { status, text, headers } = await got;
    expect([status, headers['content-type'], headers['x-common']]).toEqual([200, 'application/x-json-stream', 'yes']);
    expect(text).toBe('{"Message":"one\\n"}\n{"Message":"two \\"2\\"\\n"}\n');
  });

  it('keeps a proper status for what fails soon, although it has said something', async () => {
    const { got } = await progress(async (say) => {
      say('starting');
      throw FAILURE;
    }, 10_000);
    expect(await got).toMatchObject({ status: 500, text: 'The unit exited.' });
  });

  it('ends with an error line when it fails later', async () => {
    const seen = gate();
    const { begun, got } = await progress(async (say) => {
      say('starting');
      await seen.opened;
      say('waiting');
      throw FAILURE;
    }, 1);
    await begun;
    seen.open();
    const lines = (await got).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      { Message: 'starting\n' },
      { Message: 'waiting\n' },
      { Message: '', Error: 'The unit exited.\nSee the log.' },
    ]);
    expect(late.splice(0)).toEqual([FAILURE]);
  });

  it('holds the status back for as long as there is nothing to say', async () => {
    const { got } = await progress(async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      throw FAILURE;
    }, 1);
    expect((await got).status).toBe(500);
  });

  it('is plain text for who reads that, after the end of the work, and the newest of it when there is too much', async () => {
    const lines = Array.from({ length: 3_000 }, (_, n) => `${n} ${'x'.repeat(1_000)}`);
    const { got } = await serve((stream) =>
      answerProgress(stream, async (say) => lines.forEach((line) => say(line)), {
        ...{ onLateError, holdMs: UNTIL_THE_END, asText: true, textEnd: 'OK\n' },
      }),
    );
    const { text, headers } = await got;
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toMatch(/^\(\d+ earlier lines are left out\)\n\d+ x+\n/);
    expect(text).toMatch(/\n2999 x+\nOK\n$/);
    expect(text.length).toBeLessThan(1_200_000);
  });

  it('keeps the text of an unexpected failure to itself', async () => {
    const { got } = await progress(async (say) => {
      say('starting');
      await new Promise((resolve) => setTimeout(resolve, 30));
      throw new Error('password=hunter2');
    }, 1);
    const { text } = await got;
    expect(text).toContain('"Error"');
    expect(text).not.toContain('hunter2');
  });
});

describe('output', () => {
  const output = (raw: boolean, work: (write: CommandOutput) => Promise<number>) =>
    serve((stream) => answerOutput(stream, work, { onLateError, raw }));
  const messages = (text: string): string =>
    text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { Message: string }).Message)
      .join('');

  it('does not break characters that arrive in pieces', async () => {
    const bytes = Buffer.from('naïve 🦩\n');
    const { got } = await output(false, async (write) => {
      for (const byte of bytes) write(Uint8Array.of(byte));
      return 0;
    });
    expect(messages((await got).text)).toBe('naïve 🦩\n');
  });

  it('of any length comes whole, when the command prints no faster than the client reads', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const { got } = await output(true, async (write) => {
      for (let n = 0; n < 400; n++) await write(piece);
      return 0;
    });
    const { text, trailers } = await got;
    expect([text.length, trailers['x-exit-code']]).toEqual([400 * piece.length, '0']);
  });

  it('reports an exit code as an error line after the output', async () => {
    const { got } = await output(false, async (write) => {
      write(Buffer.from('half'));
      return 7;
    });
    expect((await got).text).toBe('{"Message":"half"}\n{"Message":"","Error":"exit code 7"}\n');
  });

  it('is raw for who wants it, with the exit code as a trailer', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x0a]);
    const { got } = await output(true, async (write) => {
      write(bytes);
      return 3;
    });
    const { text, trailers } = await got;
    expect([text, trailers['x-exit-code']]).toEqual([bytes.toString('utf8'), '3']);
  });

  it('keeps a proper status for what is refused before the command ran', async () => {
    for (const raw of [true, false]) {
      const { got } = await output(raw, () => Promise.reject(FAILURE));
      expect((await got).status).toBe(500);
    }
  });
});

it('cuts off a client that does not read, instead of buffering without end', async () => {
  const cut = gate();
  const server = createServer((_request, response) => {
    response.on('close', cut.open);
    const stream = new ResponseStream(response, () => ({}));
    stream.start({});
    const piece = Buffer.alloc(1024 * 1024);
    for (let i = 0; i < 64; i += 1) stream.write(piece);
  });
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const request = get({ port: (server.address() as AddressInfo).port, agent: false }, (response) => response.pause());
  request.on('error', () => {});
  await cut.opened;
  request.destroy();
});
