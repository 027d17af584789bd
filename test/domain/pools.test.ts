/** Pools where they count: which engine runs the units of an app, and how an app moves from one to another. */
import { get } from 'node:http';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProcessWorld, openLevel } from '../../src/backends/provisioner/process/provisioner-world.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { EngineChoice } from '../../src/domain/pools/pools.ts';
import { crashAtEveryStep } from '../support/crash-at-every-step.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { SLOW } from '../support/slow.ts';
import { until } from '../support/until.ts';

const MOVES = SLOW ? 50 : 10;
const PLATFORM: Caller = { kind: 'platform' };
const ELSEWHERE = { engine: 'elsewhere', options: {} };
const quiet = (): void => {};

const addPool = (world: DomainWorld, name: string, place: EngineChoice = {}) =>
  world.useCases.pools.create(PLATFORM, { name, isPublic: true, ...place });

const move = (world: DomainWorld, app: string, pool: string) => world.useCases.appChanges.change(ANN, app, { pool });

/** Names of the running units of an app, by engine. */
function runningOf({ machine }: DomainWorld, app = 'shop'): { memory: string[]; elsewhere: string[] } {
  const [memory, elsewhere] = [machine.units, machine.elsewhere].map((engine) =>
    [...engine.entries.values()]
      .filter(({ spec, unit }) => spec.app === app && unit.exit === null)
      .map(({ spec }) => spec.process)
      .sort(),
  );
  return { memory: memory ?? [], elsewhere: elsewhere ?? [] };
}

async function recordOf(world: DomainWorld, app = 'shop') {
  const known = await world.machine.store.app(app);
  return { pool: known?.pool, release: await world.machine.store.release(app, known?.release ?? 0) };
}

/** Of each client between two requests: they would take the whole processor from what is tested. */
const PAUSE_MS = 5;

/** Asks an app all the time, over connections of their own. */
function asking(world: DomainWorld, app: string, clients: number) {
  const [host = '', port = ''] = world.machine.router.listen.split(':');
  const failed: string[] = [];
  let [answers, isGoing] = [0, true];
  const ask = () =>
    new Promise<void>((resolve) => {
      const request = get({ host, port, headers: { host: `${app}.apps.test` }, agent: false }, (response) => {
        if (response.statusCode !== 200) failed.push(String(response.statusCode));
        response.resume().on('end', () => resolve());
      });
      request.on('error', (error) => {
        failed.push(error.message);
        resolve();
      });
    });
  const all = Array.from({ length: clients }, async () => {
    for (; isGoing; answers += 1) {
      await ask();
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  });
  return {
    more: async (count: number) => {
      const wanted = answers + count;
      await until(() => answers >= wanted, { what: `${count} more answers` });
    },
    end: async () => {
      isGoing = false;
      await Promise.all(all);
      return { answers, failed };
    },
  };
}

describe('the pool of an app', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain();
    await world.createApp('shop');
    await addPool(world, 'away', { engine: 'elsewhere', options: { shelf: 'upper' } });
    await addPool(world, 'other');
  });
  afterEach(() => world.dispose());

  it('says on which engine, and where in it, its units, commands and shells run', async () => {
    await world.deploy('shop', { processes: { web: 'serve', worker: 'stay' } });
    expect(runningOf(world)).toEqual({ memory: ['web', 'worker'], elsewhere: [] });
    await move(world, 'shop', 'away');
    await world.settled();
    expect(runningOf(world)).toEqual({ memory: [], elsewhere: ['web', 'worker'] });
    const places = [...world.machine.elsewhere.entries.values()].map(({ spec }) => spec.placement);
    expect(places).toEqual([places[0], { engine: 'elsewhere', options: { shelf: 'upper' } }]);
    const { pool, release } = await recordOf(world);
    expect([pool, release?.reason, release?.number]).toEqual(['away', 'pool', 2]);
    await world.setEnv('shop', { A: 'b' });
    await world.restart('shop');
    await world.useCases.scale.add(ANN, 'shop', { units: 1, process: 'web' }, quiet);
    await world.settled();
    expect(runningOf(world)).toEqual({ memory: [], elsewhere: ['web', 'web', 'worker'] });
    await expectSound(world);
  });

  it('costs no request when it changes, again and again', async () => {
    await world.deploy('shop', { processes: { web: 'serve' } });
    const load = asking(world, 'shop', 4);
    for (let n = 0; n < MOVES; n++) {
      await load.more(5);
      await move(world, 'shop', n % 2 === 0 ? 'away' : 'default');
    }
    await world.settled();
    const { answers, failed } = await load.end();
    expect(failed).toEqual([]);
    expect(answers).toBeGreaterThan(5 * MOVES);
    expect(runningOf(world)).toEqual({ memory: ['web'], elsewhere: [] });
    await expectSound(world);
  });

  it('is as before when the app does not start there', async () => {
    await world.deploy('shop');
    const load = asking(world, 'shop', 2);
    const undo = world.faults.on('provisioner.ready', () => {
      throw new Failure('no_listener', 'Nothing listens.');
    });
    await expect(move(world, 'shop', 'away')).rejects.toMatchObject({ code: 'unit.failed' });
    undo();
    await world.settled();
    await load.more(5);
    expect((await load.end()).failed).toEqual([]);
    expect(await recordOf(world)).toMatchObject({ pool: 'default', release: { number: 1, placement: null } });
    expect(runningOf(world)).toEqual({ memory: ['web'], elsewhere: [] });
    await expectSound(world);
  });

  it('restarts nothing where both are in the same place', async () => {
    await world.deploy('shop');
    const before = await world.machine.store.units('shop');
    await move(world, 'shop', 'other');
    expect(await recordOf(world)).toMatchObject({ pool: 'other', release: { number: 1 } });
    expect(await world.machine.store.units('shop')).toEqual(before);
  });

  it('holds for the first deploy, for the start of an app that rests, and over a rollback', async () => {
    await move(world, 'shop', 'away');
    await world.deploy('shop');
    expect(runningOf(world)).toEqual({ memory: [], elsewhere: ['web'] });
    await world.useCases.startStop.stop(ANN, 'shop', '', quiet);
    await move(world, 'shop', 'default');
    await world.useCases.startStop.start(ANN, 'shop', '', quiet);
    await world.settled();
    expect(runningOf(world)).toEqual({ memory: ['web'], elsewhere: [] });
    await world.deploy('shop');
    await world.useCases.deploys.rollback(ANN, 'shop', 'v1', quiet);
    await world.settled();
    expect(runningOf(world)).toEqual({ memory: ['web'], elsewhere: [] });
  });

  it('is where units are found again, and started again, after control was away', async () => {
    await world.deploy('shop');
    await move(world, 'shop', 'away');
    await world.settled();
    world = await world.next();
    expect(world.recovered).toMatchObject({ adopted: 1, revived: 0 });
    const [entry] = world.machine.elsewhere.entries.values();
    await world.machine.elsewhere.kill(entry?.spec.id ?? '');
    await until(() => runningOf(world).elsewhere.length === 1, { what: 'the unit to be back' });
    await world.settled();
    await expectSound(world);
  });

  it('cannot change where a volume or a link keeps the app', async () => {
    await world.createApp('cart');
    for (const app of ['shop', 'cart']) await world.deploy(app);
    await world.useCases.links.add(ANN, 'cart', 'shop', quiet);
    const refusal = (hint: string) => ({ code: 'unsupported', hint: expect.stringContaining(hint) as string });
    for (const app of ['shop', 'cart']) {
      await expect(move(world, app, 'away')).rejects.toMatchObject(refusal('app unlink cart shop'));
    }
    await world.useCases.links.remove(ANN, 'cart', 'shop', quiet);
    await move(world, 'cart', 'away');
    await expect(world.useCases.links.add(ANN, 'cart', 'shop', quiet)).rejects.toMatchObject(refusal('--pool default'));
    await world.useCases.volumes.create(ANN, 'shop', { name: 'photos' });
    await world.useCases.volumes.mount(ANN, 'shop', 'photos', { path: 'photos' }, quiet);
    await expect(move(world, 'shop', 'away')).rejects.toMatchObject(refusal('volume unmount photos -a shop'));
    await move(world, 'shop', 'other');
  });

  it('can be asked whether it may change, without a change', async () => {
    const judge = (pool: string) => world.useCases.appChanges.judge(ANN, 'shop', { pool });
    await world.deploy('shop');
    const { pool: before } = (await world.machine.store.app('shop')) ?? {};
    await judge('away');
    await expect(judge('nowhere')).rejects.toMatchObject({ code: 'pool.not_found' });
    await world.useCases.volumes.create(ANN, 'shop', { name: 'photos' });
    await world.useCases.volumes.mount(ANN, 'shop', 'photos', { path: 'photos' }, quiet);
    await world.settled();
    await expect(judge('away')).rejects.toMatchObject({ code: 'unsupported' });
    const { pool } = (await world.machine.store.app('shop')) ?? {};
    expect([pool, runningOf(world)]).toEqual([before, { memory: ['web'], elsewhere: [] }]);
  });
});

describe('a pool', () => {
  let world: DomainWorld;
  beforeEach(async () => {
    world = await startDomain();
    await addPool(world, 'away', { engine: 'elsewhere', options: { shelf: 'upper' } });
  });
  afterEach(() => world.dispose());

  const change = (place: EngineChoice) => world.useCases.pools.update(PLATFORM, 'away', place);
  const placement = async () => (await world.machine.store.pool('away'))?.placement;

  it('is listed with its engine', async () => {
    await addPool(world, 'near');
    const list = await world.useCases.pools.list(ANN);
    expect(list.map(({ name, engine, placement: place }) => [name, engine, place?.options])).toEqual([
      ['default', 'memory', undefined],
      ['away', 'elsewhere', { shelf: 'upper' }],
      ['near', 'memory', undefined],
    ]);
  });

  it('is put elsewhere while no app is in it', async () => {
    await change({ options: { shelf: 'lower' } });
    expect(await placement()).toEqual({ engine: 'elsewhere', options: { shelf: 'lower' } });
    await change({ engine: '' });
    expect(await placement()).toBeNull();
    // Named, it is meant also when another one becomes the server's own.
    await change({ engine: 'memory' });
    expect(await placement()).toEqual({ engine: 'memory', options: {} });
    await change({ engine: 'elsewhere' });
    expect(await placement()).toEqual(ELSEWHERE);
    await world.createApp('shop');
    await move(world, 'shop', 'away');
    await expect(change({ engine: 'memory' })).rejects.toMatchObject({
      code: 'pool.in_use',
      details: { apps: ['shop'] },
    });
    await world.useCases.pools.update(PLATFORM, 'away', { isPublic: false });
    expect(await placement()).toEqual(ELSEWHERE);
    await expect(world.useCases.pools.update(PLATFORM, 'default', ELSEWHERE)).rejects.toMatchObject({
      code: 'pool.in_use',
    });
  });

  it('names an engine that is there, and options that it knows', async () => {
    const wrong: [EngineChoice, string][] = [
      [{ engine: 'nowhere' }, 'memory, elsewhere'],
      [{ options: { rack: 'b' } }, 'shelf'],
      [{ options: { shelf: 'Not so' } }, 'a lower-case word'],
      [{ options: { constructor: 'x' } }, 'shelf'],
    ];
    for (const [place, hint] of wrong) {
      await expect(change(place), JSON.stringify(place)).rejects.toMatchObject({
        code: 'input.invalid',
        hint: expect.stringContaining(hint) as string,
      });
    }
    expect(await placement()).toEqual({ engine: 'elsewhere', options: { shelf: 'upper' } });
  });
});

describe('an app', () => {
  it('moves to real processes and back, without a failed request', async ({ skip }) => {
    const level = await openLevel('plain');
    if (typeof level === 'string') return skip(level);
    const processes = await createProcessWorld(level);
    const world = await startDomain({ startTimeoutMs: 180_000, stopGraceMs: 5_000 }, processes.provisioner);
    try {
      await world.createApp('shop');
      await addPool(world, 'away', ELSEWHERE);
      await world.deploy('shop', { processes: { web: 'serve' } });
      for (const artifact of world.machine.artifacts.kept.keys()) addProgram(processes.addSlug(artifact));
      const load = asking(world, 'shop', 2);
      for (const pool of ['away', 'default', 'away']) {
        await move(world, 'shop', pool);
        await world.settled();
        await load.more(20);
        expect((await processes.provisioner.list()).length).toBe(pool === 'away' ? 1 : 0);
        expect(runningOf(world).memory).toEqual(pool === 'away' ? [] : ['web']);
      }
      expect((await load.end()).failed).toEqual([]);
      await world.remove('shop');
      expect(await processes.provisioner.list()).toEqual([]);
    } finally {
      await world.dispose();
      await processes.dispose();
      await level.dispose();
    }
  });
});

/** What units in memory know as a word is a program in the slug. */
function addProgram(code: string): void {
  mkdirSync(join(code, 'bin'));
  writeFileSync(join(code, 'bin', 'serve'), '#!/bin/sh\nexec node app.js\n', { mode: 0o755 });
  const manifest = {
    format: 1,
    platform: 'node',
    path: [join(code, 'bin'), dirname(process.execPath)],
    env: {},
    binds: [],
  };
  writeFileSync(join(code, '..', 'slug.json'), JSON.stringify(manifest));
}

crashAtEveryStep({
  name: 'a move to another engine',
  isFresh: true,
  async prepare(world, app) {
    if ((await world.useCases.pools.list(ANN)).length === 1) await addPool(world, 'away', ELSEWHERE);
    await world.createApp(app);
    await world.deploy(app);
  },
  operation: (world, app) => move(world, app, 'away'),
  async check(world, app, { acknowledged }) {
    const { pool, release } = await recordOf(world, app);
    expect([pool, release?.placement]).toEqual(pool === 'away' ? ['away', ELSEWHERE] : ['default', null]);
    expect(runningOf(world, app)[pool === 'away' ? 'elsewhere' : 'memory']).toEqual(['web']);
    if (acknowledged) expect(pool).toBe('away');
  },
});
