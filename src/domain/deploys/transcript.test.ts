import { expect, it } from 'vitest';
import { SILENT } from '../../lib/logger.ts';
import type { Store, StoreWriter } from '../store.ts';
import { Transcript } from './transcript.ts';

function fixture() {
  const said: string[] = [];
  const kept: string[] = [];
  const appendDeployLog = (_: string, lines: readonly string[]): Promise<void> => {
    kept.push(...lines);
    return Promise.resolve();
  };
  const writer = { appendDeployLog } as Partial<StoreWriter> as StoreWriter;
  const store = { transact: (work: (tx: StoreWriter) => Promise<unknown>) => work(writer) } as Partial<Store> as Store;
  const redact = (text: string): string => text.replaceAll('secret', '***');
  const pusher = (line: string): void => void said.push(line);
  return { said, kept, transcript: new Transcript({ store, deployId: 'd', pusher, redact, logger: SILENT }) };
}

it('writes the same to the pusher and the stored log, without private values and what steers a terminal', async () => {
  const { said, kept, transcript } = fixture();
  transcript.say('a secret');
  transcript.say('b\n\u001b]0;title\u0007\u001b[2J\u009b1Ac\r\u202e\u2066d');
  await transcript.flush();
  expect(said).toEqual(['a ***', 'b\n1Acd']);
  expect(kept).toEqual(said);
});

it.each([
  ['many lines', 'x', 25_000],
  ['long lines', 'x'.repeat(4_000), 5_000],
])('keeps a bounded part of %s, and says so', async (_, line, count) => {
  const { said, kept, transcript } = fixture();
  for (let n = 0; n < count; n++) transcript.say(line);
  await transcript.flush();
  expect(said).toHaveLength(count);
  expect(kept.length).toBeLessThanOrEqual(20_000);
  expect(kept.join('').length).toBeLessThan(5 * 1024 * 1024);
  expect(kept.at(-1)).toBe('[the rest of the output was not kept]');
});
