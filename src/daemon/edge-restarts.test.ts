import { expect, it } from 'vitest';
import { EdgeRestarts } from './edge-restarts.ts';
import type { LivingEdge } from './edge-takeover.ts';

/** Edges of which each is started when the test says so. */
function stage() {
  const alive = new Map<number, () => void>();
  const edge = (pid: number): LivingEdge => ({ pid, ended: new Promise<void>((resolve) => alive.set(pid, resolve)) });
  const die = (pid: number): void => {
    alive.get(pid)?.();
    alive.delete(pid);
  };
  const asked = Promise.withResolvers<void>();
  const started = Promise.withResolvers<LivingEdge>();
  const ended: number[] = [];
  let isToServe = true;
  const restarts = new EdgeRestarts(edge(1), {
    start: () => {
      asked.resolve();
      return started.promise;
    },
    end: (pid) => {
      ended.push(pid);
      die(pid);
      return Promise.resolve();
    },
    isToServe: () => Promise.resolve(isToServe),
    onDeath: () => undefined,
  });
  return { alive, asked: asked.promise, die, edge, ended, restarts, started, takenOver: () => (isToServe = false) };
}

it('an edge that is stopped while it is being started again is ended as soon as it runs', async () => {
  const { alive, asked, die, edge, ended, restarts, started } = stage();
  die(1);
  await asked;
  const stopped = restarts.stop();
  started.resolve(edge(2));
  await stopped;
  expect(ended).toEqual([2]);
  expect([...alive]).toEqual([]);
});

it('an edge that lives is ended, and not started again', async () => {
  const { ended, restarts } = stage();
  await restarts.stop();
  expect(ended).toEqual([1]);
  await restarts.ended;
});

it('an edge that has died since is nobody to end: its process number may be that of another program', async () => {
  const { asked, die, ended, restarts, started } = stage();
  die(1);
  await asked;
  const stopped = restarts.stop();
  started.reject(new Error('the address is taken'));
  await expect(stopped).rejects.toThrow('the address is taken');
  expect(ended).toEqual([]);
});

it('an edge that another one has taken over from is not started again', async () => {
  const { die, ended, restarts, takenOver } = stage();
  takenOver();
  die(1);
  await restarts.ended;
  expect(ended).toEqual([]);
});
