/** Units that fill the disk: they are ended, the log of their app says so, and those beside them are left alone. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DiskSurvey } from '../../src/domain/disk/disk-survey.ts';
import { type DiskWriter, DiskWriters } from '../../src/domain/disk/disk-writers.ts';
import { UnitSizes } from '../../src/domain/disk/unit-sizes.ts';
import { describeExit, type Unit, type UnitExit } from '../../src/domain/units/unit.ts';
import { SILENT } from '../../src/lib/logger.ts';
import type { Caller } from '../../src/domain/caller.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { until } from '../support/until.ts';

const MIB = 1024 ** 2;

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  for (const app of ['shop', 'blog']) {
    await world.createApp(app);
    await world.deploy(app);
  }
});
afterEach(() => world.dispose());

async function unitOf(app: string): Promise<Unit> {
  const [unit] = await world.machine.store.units(app);
  if (unit === undefined) throw new Error('no unit');
  return unit;
}

interface Disk {
  readonly free: number;
  readonly shop: number;
  readonly blog: number;
  /** Of shop. */
  readonly files?: number;
  readonly freeFiles?: number;
}

/** `disk`: MiB, as it is at each look; `counted` gets what is counted; `mute`: units that cannot print while it is low. */
async function watch(disk: Disk, counted: string[] = [], mute: string[] = [], deps = {}): Promise<UnitSizes> {
  const held = new Map([
    [(await unitOf('shop')).id, () => ({ bytes: disk.shop * MIB, files: disk.files ?? 1 })],
    [(await unitOf('blog')).id, () => ({ bytes: disk.blog * MIB, files: 1 })],
  ]);
  return new UnitSizes({
    store: world.machine.store,
    probe: {
      disk: async () => {
        const { free, freeFiles = 90_000 } = disk;
        return { freeBytes: free * MIB, totalBytes: 10_000 * MIB, freeFiles, totalFiles: 100_000 };
      },
    },
    survey: {
      async *units(ids, what) {
        counted.push(what);
        for (const id of ids) yield { id, held: held.get(id)?.()[what] ?? 0 };
      },
    },
    diskWriters: new DiskWriters(),
    supervisor: world.parts.supervisor,
    provisioner: { holdOutput: async () => mute },
    journal: world.parts.journal,
    settings: { diskReserveBytes: 512 * MIB, unitDiskBytes: 1_000 * MIB, unitFiles: 5_000 },
    logger: SILENT,
    now: world.machine.now,
    ...deps,
  });
}

function writersOf(directories: DiskSurvey['directories']): DiskWriters {
  return new DiskWriters({ directories });
}

function writing(app: string, what: DiskWriter['what'], own: readonly string[]): DiskWriter {
  return { app, what, directories: async () => ({ own }) };
}

function untilEnded(ending: AbortSignal): Promise<string> {
  return new Promise((resolve) => ending.addEventListener('abort', () => resolve('ended like this'), { once: true }));
}

it('are ended and started anew when they hold more than they may, and whoever looks learns why', async () => {
  const { id } = await unitOf('shop');
  await (await watch({ free: 5_000, shop: 1_001, blog: 999 })).look();
  // The keeper starts it again when this control ends now.
  expect(world.machine.units.entries.get(id)?.isStopped).toBe(false);
  const { lastExit } = await unitOf('shop');
  expect(lastExit).toMatchObject({ outgrown: true, reason: expect.stringContaining('1001 MiB') as string });
  const { problems } = await world.useCases.apps.info(ANN, 'shop');
  expect(problems.join()).toMatch(/held too much on the disk/);
  const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 20 });
  expect(entries.map(({ message }) => message).join('\n')).toMatch(/holds too much on the disk: .* may hold 1000 MiB/);
  const events = await world.machine.store.events(10);
  expect(events.find(({ action }) => action === 'unit.replace')).toMatchObject({ target: 'app:shop', actor: 'tancho' });
  expect((await unitOf('blog')).exits).toBe(0);
  await until(async () => (await unitOf('shop')).state === 'started', { what: 'the unit to start again' });
  await expectSound(world);
});

it('that could not print on a full disk are said to have lost lines, once, as soon as there is room to say so', async () => {
  const disk = { free: 0, shop: 1, blog: 1 };
  const { id } = await unitOf('shop');
  const lost = async (): Promise<string[]> => {
    const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 20 });
    return entries.map(({ message }) => message).filter((message) => message.includes('may be missing'));
  };
  const sizes = await watch(disk, [], [id]);
  await sizes.look();
  expect(sizes.pauseMs).toBeLessThanOrEqual(500);
  expect(await lost()).toEqual([]);
  disk.free = 5_000;
  await sizes.look();
  await sizes.look();
  expect(await lost()).toEqual([
    expect.stringMatching(/^Lines of web shop\/0 may be missing from \S+Z to \S+Z: the disk/),
  ]);
});

it('hold up nobody where one of them cannot be ended', async () => {
  const ended: string[] = [];
  const replaceOutgrown = async ({ app }: Unit): Promise<void> => {
    ended.push(app);
    if (app === 'shop') await new Promise(() => {});
  };
  const sizes = await watch({ free: 5_000, shop: 2_000, blog: 2_000 }, [], [], {
    supervisor: { replaceOutgrown },
    endMs: 1,
  });
  await sizes.look();
  expect(ended.sort()).toEqual(['blog', 'shop']);
});

it('are ended while room for what the others print is still being made', async () => {
  const holding = Promise.withResolvers<string[]>();
  const provisioner = { holdOutput: () => holding.promise };
  const looking = (await watch({ free: 100, shop: 300, blog: 200 }, [], [], { provisioner })).look();
  await until(async () => (await unitOf('shop')).exits === 1, { what: 'the end of the one that holds most' });
  holding.resolve([]);
  await looking;
});

it('are looked at to the end although no room for what they print can be had', async () => {
  const [counting, begun, order] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), [] as string[]];
  const provisioner = { holdOutput: () => Promise.reject(new Error('the disk has errors')) };
  const survey = {
    async *units() {
      begun.resolve();
      await counting.promise;
      yield* [];
      order.push('counted');
    },
  };
  const sizes = await watch({ free: 100, shop: 1, blog: 1 }, [], [], { provisioner, survey });
  const looking = sizes.look().then(() => order.push('over'));
  await begun.promise;
  counting.resolve();
  await looking;
  expect(order).toEqual(['counted', 'counted', 'over']);
});

it('are not said to have held too much when they had ended by themselves, or when they could not be ended', async () => {
  const { supervisor, units } = world.parts;
  const crash = async (): Promise<void> => {
    const { id, exits } = await unitOf('shop');
    await world.machine.units.kill(id);
    await until(async () => (await unitOf('shop')).exits > exits, { what: 'its death' });
    expect((await unitOf('shop')).lastExit?.outgrown).toBe(undefined);
    await until(async () => (await unitOf('shop')).state === 'started', { what: 'its next life' });
  };
  const { id } = await unitOf('shop');
  await units.makeWay(id);
  await units.end(id, 0);
  await until(async () => (await unitOf('shop')).lastExit !== null, { what: 'the note of its end' });
  await supervisor.endOutgrown(await unitOf('shop'), 'it has written much', 0);
  units.comeBack(id);
  await supervisor.revive(await unitOf('shop'));
  await until(async () => (await unitOf('shop')).state === 'started', { what: 'its next life' });
  await crash();
  const undo = world.faults.on('provisioner.stop', () => Promise.reject(new Error('it survives')));
  await expect(supervisor.endOutgrown(await unitOf('shop'), 'it has written much', 0)).rejects.toThrow();
  undo();
  await crash();
});

it('are left alone while there is room', async () => {
  await (await watch({ free: 5_000, shop: 900, blog: 10 })).look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([0, 0]);
});

it('make room when the reserve is touched: the one that holds most, unless none holds much', async () => {
  await (await watch({ free: 100, shop: 50, blog: 60 })).look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([0, 0]);
  await (await watch({ free: 100, shop: 300, blog: 200 })).look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([1, 0]);
});

it('stay where a build or a command takes the room: the one that holds most is ended, and whoever waits for it learns why', async () => {
  const held: Record<string, number> = { '/small': 130, '/cache': 400, '/linked': 300, '/one': 100, '/other': 90 };
  const diskWriters = writersOf(async (paths) => new Map(paths.map((path) => [path, (held[path] ?? 0) * MIB])));
  const sizes = await watch({ free: 100, shop: 300, blog: 300 }, [], [], { diskWriters, writersMs: 0 });
  const { signal } = new AbortController();
  const small = diskWriters.during(writing('shop', 'command', ['/small']), signal, untilEnded);
  const directories = async () => ({ own: ['/one', '/other'], linked: ['/linked'] });
  const large = { app: 'blog', what: 'build', shared: ['/cache'], directories } as const;
  const ended = diskWriters.during(large, signal, async (ending) => {
    throw new Error(await untilEnded(ending));
  });
  await diskWriters.list()[1]?.written('bytes', signal);
  held['/cache'] = 410;
  await Promise.all([
    expect(ended).rejects.toMatchObject({
      code: 'disk_low',
      message: expect.stringMatching(/build was ended: .* nearly full, and it has written 200 MiB/) as string,
    }),
    sizes.look(),
  ]);
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([0, 0]);
  const entries = await world.useCases.logs.query(ANN, 'blog', { lines: 20 });
  expect(entries.map(({ message }) => message).join()).toContain('The build was ended');
  await sizes.look();
  expect(await small).toBe('ended like this');
  await sizes.look();
  expect((await unitOf('shop')).exits + (await unitOf('blog')).exits).toBe(1);
});

it('have volumes that nobody counts for a command that is over at once', async () => {
  const counted: string[] = [];
  const diskWriters = writersOf(async (paths) => {
    counted.push(...paths);
    return new Map(paths.map((path) => [path, 7]));
  });
  const command = { ...writing('shop', 'command', ['/own']), shared: ['/volume'] };
  const { signal } = new AbortController();
  const written = (): Promise<number> => diskWriters.list()[0]?.written('bytes', signal) ?? Promise.resolve(0);
  expect(await diskWriters.during(command, signal, written)).toBe(7);
  expect(counted).toEqual(['/own']);
});

it('are held to their own limits while builds are counted, and a build that cannot be counted is ended', async () => {
  const counting = Promise.withResolvers<Map<string, number>>();
  const diskWriters = writersOf((paths) => (paths.length === 0 ? Promise.resolve(new Map()) : counting.promise));
  const [disk, { signal }] = [{ free: 100, shop: 1_001, blog: 300 }, new AbortController()];
  const build = (): Promise<string> => diskWriters.during(writing('blog', 'build', ['/many']), signal, untilEnded);
  const [sizes, late] = [await watch(disk, [], [], { diskWriters, writersCountMs: 1_000_000 }), build()];
  await sizes.look();
  expect(diskWriters.list()[0]?.endedMs()).toBe(null);
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([1, 0]);
  await (await watch({ ...disk, shop: 1 }, [], [], { diskWriters, writersCountMs: 1 })).look();
  expect(await late).toBe('ended like this');
  counting.reject(new Error('nothing can be counted'));
  await sizes.close();
  const failing = build();
  await (await watch({ ...disk, shop: 1 }, [], [], { diskWriters })).look();
  expect([await failing, (await unitOf('blog')).exits]).toEqual(['ended like this', 0]);
});

it('are held to the number of files, too', async () => {
  await (await watch({ free: 5_000, shop: 1, blog: 1, files: 5_000 })).look();
  expect((await unitOf('shop')).exits).toBe(0);
  await (await watch({ free: 5_000, shop: 1, blog: 1, files: 5_001 })).look();
  expect((await unitOf('shop')).lastExit?.reason).toBe('it has made 5001 files, and a unit may hold 5000');
});

it('make room when the reserve of files is touched: the one that has made most, whatever others have written', async () => {
  await (await watch({ free: 5_000, shop: 1, blog: 900, files: 499, freeFiles: 1_900 })).look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([0, 0]);
  await (await watch({ free: 5_000, shop: 1, blog: 900, files: 600, freeFiles: 1_900 })).look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([1, 0]);
  expect((await unitOf('shop')).lastExit?.reason).toContain('it has made 600 files, more than any other');
});

it('are held to what the plan of their app says', async () => {
  const admin: Caller = { kind: 'platform' };
  const plan = { name: 'roomy', memoryBytes: 0, cpuMillis: 0, cpuShare: 0, isDefault: false };
  await world.useCases.plans.create(admin, { ...plan, diskBytes: 2_000 * MIB });
  await world.useCases.plans.create(admin, { ...plan, name: 'tight', diskBytes: 100 * MIB });
  await world.useCases.appChanges.change(ANN, 'shop', { plan: 'roomy' });
  await world.useCases.appChanges.change(ANN, 'blog', { plan: 'tight' });
  await world.settled();
  await (await watch({ free: 5_000, shop: 1_900, blog: 101 })).look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([0, 1]);
  expect((await unitOf('blog')).lastExit?.reason).toContain('may hold 100 MiB');
});

it('are counted anew as soon as one of them may hold too much by what is free, and looked for the sooner the faster that goes', async () => {
  const [counted, disk] = [[] as string[], { free: 5_000, shop: 300, blog: 200, files: 1, freeFiles: 90_000 }];
  const sizes = await watch(disk, counted);
  await sizes.look();
  const calmMs = sizes.pauseMs;
  disk.free -= 690;
  await sizes.look();
  expect([counted, sizes.pauseMs < calmMs]).toEqual([['bytes', 'files'], true]);
  // What others give back meanwhile hides nothing that is taken afterwards.
  disk.free += 1_000;
  await sizes.look();
  disk.free -= 701;
  await sizes.look();
  expect(counted).toEqual(['bytes', 'files', 'bytes']);
  expect((await unitOf('shop')).exits).toBe(0);
  [disk.free, disk.shop] = [disk.free - 800, 1_100];
  await sizes.look();
  expect([(await unitOf('shop')).exits, (await unitOf('blog')).exits]).toEqual([1, 0]);
  [disk.freeFiles, disk.shop, disk.files] = [85_000, 0, 5_100];
  await until(async () => (await unitOf('shop')).state === 'started', { what: 'the unit to start again' });
  await sizes.look();
  expect((await unitOf('shop')).lastExit?.reason).toContain('5100 files');
  expect(counted.at(-1)).toBe('files');
});

it('are ended before they serve, too, and their record and the log of their app say why', async () => {
  const { id } = await unitOf('shop');
  await world.machine.store.transact(async (tx) => {
    await tx.updateUnit(id, { state: 'error', address: null });
    await tx.updateUnit(id, { state: 'starting', address: null });
  });
  await (await watch({ free: 5_000, shop: 1_200, blog: 10 })).look();
  const running = (await world.parts.provisioner.list())
    .filter(({ state }) => state === 'running')
    .map(({ app }) => app);
  expect(running).toEqual(['blog']);
  const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 20 });
  expect(entries.map(({ message }) => message).join('\n')).toMatch(
    /, which does not serve, holds too much on the disk: it has written 1200 MiB/,
  );
  const lastExit = async (): Promise<UnitExit | null> => (await unitOf('shop')).lastExit;
  await until(async () => (await lastExit()) !== null, { what: 'the note of its end' });
  expect(describeExit((await lastExit()) as UnitExit)).toMatch(
    /^held too much on the disk \(it has written 1200 MiB, /,
  );
});
