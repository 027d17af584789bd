import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { LogEntry } from '../domain/logs/entry.ts';
import { answerFollow } from './follow-answer.ts';
import { ResponseStream } from './response-stream.ts';
import { logEntries } from './shapes/log-entry.ts';

function entries(count: number, message: string): LogEntry[] {
  const common = { at: '2026-01-02T03:04:05.678Z', app: 'shop', source: 'web', unit: 'shop/0', unitId: '', release: 1 };
  return Array.from({ length: count }, (_, at) => ({ ...common, seq: at + 1, message: `${at + 1} ${message}` }));
}

/** What a client gets that reads on all the time: the messages of every array. */
async function followed(batches: readonly (readonly LogEntry[])[]): Promise<string[][]> {
  async function* source(): AsyncGenerator<readonly LogEntry[]> {
    yield* batches;
  }
  const { signal } = new AbortController();
  const server = createServer((_, response) => {
    void answerFollow(new ResponseStream(response, () => ({})), source(), logEntries, signal);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    const arrays: string[][] = [];
    await new Promise<void>((resolve, reject) => {
      const asked = get({ port, host: '127.0.0.1', agent: false }, (answer) => {
        answer.on('error', reject).on('end', resolve);
        createInterface(answer).on('line', (line) => {
          arrays.push((JSON.parse(line) as { Message: string }[]).map(({ Message }) => Message));
        });
      });
      asked.on('error', reject);
    });
    return arrays;
  } finally {
    await new Promise((closed) => server.close(closed));
  }
}

it('gives one who reads on all of a log that is far longer than what may be unread, in order', async () => {
  const log = entries(2_000, 'x'.repeat(8_000));
  const arrays = await followed([log.slice(0, 1_990), log.slice(1_990)]);
  expect(arrays.flat()).toEqual(log.map(({ message }) => message));
  expect(arrays.length).toBeGreaterThan(10);
});

it('passes on what is small as it is, and an empty beginning too', async () => {
  expect(await followed([[], entries(2, 'a')])).toEqual([[], ['1 a', '2 a']]);
});
