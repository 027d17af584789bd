import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { drained } from './drained.ts';

it('waits until a stream takes more or is closed, and leaves no listener behind', async () => {
  let go = (): void => {};
  const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => (go = () => done()) });
  await drained(stream);
  stream.write('xx');
  let isOver = false;
  const waiting = drained(stream).then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  go();
  await waiting;
  stream.write('xx');
  const closing = drained(stream);
  stream.destroy();
  await closing;
  await drained(stream);
  expect([stream.listenerCount('drain'), stream.listenerCount('close')]).toEqual([0, 0]);
});
