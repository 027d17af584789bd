import { expect, it } from 'vitest';
import { Turns } from './turns.ts';

function held(): {
  readonly work: () => Promise<void>;
  readonly end: (error?: Error) => void;
  readonly begun: () => boolean;
} {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = false;
  const work = (): Promise<void> => {
    begun = true;
    return promise;
  };
  return { work, end: (error) => (error === undefined ? resolve() : reject(error)), begun: () => begun };
}

it('runs so many at one time, and the next one when one has ended, also by an error', async () => {
  const turns = new Turns(2);
  const pieces = [held(), held(), held(), held()];
  const runs = pieces.map(({ work }) => turns.run(work));
  await Promise.resolve();
  expect(pieces.map(({ begun }) => begun())).toEqual([true, true, false, false]);
  pieces[1]?.end(new Error('it failed'));
  await expect(runs[1]).rejects.toThrow('it failed');
  await Promise.resolve();
  expect(pieces.map(({ begun }) => begun())).toEqual([true, true, true, false]);
  for (const { end } of pieces) end();
  await Promise.all([runs[0], runs[2], runs[3]]);
  const last = held();
  const run = turns.run(last.work);
  expect(last.begun()).toBe(true);
  last.end();
  await run;
});

it('lets whoever gives up while he waits leave, and the next one take his place', async () => {
  const turns = new Turns(1);
  const [first, unwanted, last] = [held(), held(), held()];
  const stop = new AbortController();
  const running = turns.run(first.work);
  const left = turns.run(unwanted.work, stop.signal);
  const next = turns.run(last.work, new AbortController().signal);
  stop.abort(new Error('not any more'));
  await expect(left).rejects.toThrow('not any more');
  await expect(turns.run(unwanted.work, stop.signal)).rejects.toThrow('not any more');
  first.end();
  await running;
  await expect.poll(last.begun).toBe(true);
  last.end();
  await next;
  expect(unwanted.begun()).toBe(false);
});
