/** "Why is it not answering?": one broken app per row; the diagnosis names that break, and is never "all well" beside it. */
import { afterEach, describe, expect, it } from 'vitest';
import type { EdgeChange } from '../../src/domain/apps/edge-settings.ts';
import type { UserCaller } from '../../src/domain/caller.ts';
import type { Diagnosis } from '../../src/domain/diagnosis/diagnosis.ts';
import { LINKS } from '../../src/domain/diagnosis/links.ts';
import { Failure } from '../../src/domain/failure.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { Unit } from '../../src/domain/units/unit.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import type { Recipe } from '../support/memory-builds.ts';

interface Fixture {
  readonly what: string;
  /** Deployed first, successfully or not; null: nothing is. */
  readonly recipe?: Recipe | null;
  readonly settings?: Partial<Settings>;
  /** What breaks then. */
  readonly break?: (world: DomainWorld) => Promise<unknown>;
  /** Asked for in place of the app. */
  readonly address?: string;
  /** The link that is named; null: all is well. */
  readonly link: string | null;
  readonly cause?: RegExp;
  readonly command?: RegExp;
  readonly answers?: boolean;
  readonly notes?: RegExp;
}

const say = (): void => {};
const QUICK = { startTimeoutMs: 300 };
const EXIT = { code: 1, signal: null, outOfMemory: false, lastLines: ['out of luck'] };

async function unitOf(world: DomainWorld, process = 'web'): Promise<Unit> {
  const unit = (await world.machine.store.units('shop')).find((one) => one.process === process);
  if (unit === undefined) throw new Error(`there is no unit of ${process}`);
  return unit;
}

async function change(world: DomainWorld, ...changes: Parameters<DomainWorld['machine']['store']['transact']>[]) {
  for (const [work] of changes) await world.machine.store.transact(work);
}

/** The unit dies, and nobody starts it again as long as the world lives. */
async function dies(world: DomainWorld, process: string, how: (unit: Unit) => Promise<unknown>): Promise<void> {
  world.faults.hold('provisioner.ensure');
  const unit = await unitOf(world, process);
  await how(unit);
  await expect.poll(async () => (await unitOf(world, process)).state).not.toBe('started');
}

/** It dies, and does not become ready again: for a reason that only the supervisor knows. */
async function doesNotComeBack(world: DomainWorld, failure: Failure): Promise<void> {
  world.faults.on('provisioner.ready', () => {
    throw failure;
  });
  const { id } = await unitOf(world);
  // No exit is known: the death was noted by nobody but the healer.
  await change(world, [(tx) => tx.updateUnit(id, { state: 'error', address: null })]);
  await world.parts.supervisor.revive(await unitOf(world));
}

async function crash(unit: Unit): Promise<void> {
  await fetch(`http://127.0.0.1:${unit.address?.port}/crash`, { headers: { connection: 'close' } }).catch(() => {});
}

const treated = (edge: EdgeChange) => (world: DomainWorld) => world.useCases.appEdge.change(ANN, 'shop', edge);
const cnames = (world: DomainWorld, ...names: string[]) => world.useCases.cnames.add(ANN, 'shop', names);

const FIXTURES: readonly Fixture[] = [
  { what: 'an app without code', recipe: null, link: 'deploy', cause: /ever deployed/, command: /git push/ },
  { what: 'a build that failed', recipe: { failure: 'build_failed' }, link: 'deploy', cause: /build failed/ },
  { what: 'a platform that does not fit', recipe: { failure: 'no_platform' }, link: 'deploy', command: /deploy info/ },
  { what: 'a hook that fails', recipe: { hooks: { restartBefore: ['exit 4'] } }, link: 'deploy', cause: /code 4/ },
  { what: 'a first version that ends', recipe: { processes: { web: 'exit 3' } }, link: 'exit', cause: /code 3/ },
  { what: 'a first version that does not listen', recipe: { processes: { web: 'stay' } }, link: 'port' },
  { what: 'a first version at a wrong port', recipe: { processes: { web: 'serve-elsewhere' } }, link: 'port' },
  {
    what: 'a first version that fails its health check',
    recipe: { healthCheck: { path: '/broken' } },
    link: 'health',
    cause: /500/,
  },
  {
    what: 'a first version that takes too much memory',
    recipe: { processes: { web: 'take 999' } },
    settings: { unitLimits: { memoryBytes: 100, cpuMillis: 0, processes: 0 } },
    link: 'limits',
    cause: /memory/,
  },
  {
    what: 'a quota that is too small',
    recipe: { processes: { web: 'serve', worker: 'stay' } },
    settings: { defaultLimits: { appsPerUser: null, unitsPerApp: 1 } },
    link: 'quota',
  },
  { what: 'a disk that filled up in the build', recipe: { failure: 'disk_full' }, link: 'disk' },
  {
    what: 'a disk with too little room for new code',
    settings: { diskReserveBytes: 99 * 1024 ** 3 },
    link: 'disk',
    cause: /nearly full/,
  },
  {
    what: 'an app under maintenance',
    break: treated({ maintenance: true }),
    link: 'rules',
    command: /maintenance=off/,
  },
  { what: 'an app whose requests all wait', break: treated({ hold: 'always', holdSeconds: 1 }), link: 'rules' },
  { what: 'an app of workers', recipe: { processes: { worker: 'stay' } }, link: 'state', command: /Procfile/ },
  {
    what: 'an app that was stopped',
    break: (world) => world.useCases.startStop.stop(ANN, 'shop', '', say),
    link: 'state',
    command: /tancho app start shop/,
  },
  {
    what: 'a web process that was stopped',
    recipe: { processes: { web: 'serve', worker: 'stay' } },
    break: (world) => world.useCases.startStop.stop(ANN, 'shop', 'web', say),
    link: 'state',
    command: /--process web/,
  },
  {
    what: 'a crash with an exit code',
    break: (world) => dies(world, 'web', crash),
    link: 'exit',
    cause: /web shop\/0 exited with code 7/,
    command: /tancho app log shop --unit shop\/0/,
  },
  {
    what: 'a kill',
    break: (world) => dies(world, 'web', ({ id }) => world.machine.units.kill(id)),
    link: 'exit',
    cause: /SIGKILL/,
  },
  {
    what: 'a worker that died, beside a web process that answers',
    recipe: { processes: { web: 'serve', worker: 'stay' } },
    break: (world) => dies(world, 'worker', ({ id }) => world.machine.units.kill(id)),
    link: 'exit',
    cause: /worker/,
    answers: true,
  },
  {
    what: 'a unit that was ended because it hung',
    break: async (world) => {
      const lastExit = { at: new Date().toISOString(), ...EXIT, code: null, reason: 'it accepted no connection' };
      const { id } = await unitOf(world);
      await change(world, [(tx) => tx.updateUnit(id, { state: 'error', address: null, exits: 1, lastExit })]);
      await world.parts.routes.publish();
    },
    link: 'exit',
    cause: /did not answer any more \(it accepted no connection\) and was ended at/,
  },
  {
    what: 'a restart loop that is up just now',
    break: async (world) => {
      const lastExit = { at: new Date().toISOString(), ...EXIT };
      const { id } = await unitOf(world);
      await change(world, [(tx) => tx.updateUnit(id, { exits: 6, lastExit })]);
    },
    link: 'exit',
    cause: /restart loop: it died 6 times/,
    answers: true,
  },
  {
    what: 'a unit that was killed for its memory',
    break: async (world) => {
      const lastExit = { at: new Date().toISOString(), ...EXIT, outOfMemory: true };
      const { id } = await unitOf(world);
      await change(world, [(tx) => tx.updateUnit(id, { state: 'error', address: null, exits: 2, lastExit })]);
      await world.parts.routes.publish();
    },
    link: 'limits',
    cause: /2 times/,
    command: /--plan/,
  },
  {
    what: 'a unit whose death nobody noted',
    break: async (world) => {
      const { id } = await unitOf(world);
      const entry = world.machine.units.entries.get(id);
      if (entry !== undefined) entry.isSilent = true;
      await world.machine.units.kill(id);
    },
    link: 'port',
    cause: /refuses connections/,
  },
  {
    what: 'a unit that nobody starts',
    break: async (world) => {
      const { id } = await unitOf(world);
      await change(world, [(tx) => tx.updateUnit(id, { state: 'error', address: null })]);
      await world.parts.routes.publish();
    },
    link: 'unit',
    command: /healer run units/,
  },
  {
    what: 'a unit that is being started',
    break: async (world) => {
      const { id } = await unitOf(world);
      await change(
        world,
        [(tx) => tx.updateUnit(id, { state: 'error', address: null })],
        [(tx) => tx.updateUnit(id, { state: 'starting' })],
      );
      await world.parts.routes.publish();
    },
    link: 'unit',
    cause: /being started/,
  },
  {
    what: 'a unit that is gone',
    break: async (world) => {
      const { id } = await unitOf(world);
      await change(world, [(tx) => tx.deleteUnit(id)]);
      await world.parts.routes.publish();
    },
    link: 'unit',
    command: /app restart shop/,
  },
  {
    what: 'a unit that came back at a wrong port',
    break: (world) => doesNotComeBack(world, new Failure('wrong_port', 'It listens on 3000.')),
    link: 'port',
    cause: /3000/,
  },
  {
    what: 'a unit that came back listening to itself only',
    break: (world) => doesNotComeBack(world, new Failure('wrong_interface', 'It listens elsewhere.')),
    link: 'port',
  },
  {
    what: 'a unit that came back and fails its health check',
    break: (world) => doesNotComeBack(world, new Failure('health_check_failed', 'It answered 500.')),
    link: 'health',
  },
  {
    what: 'a health check that began to fail',
    recipe: { healthCheck: { path: '/health' } },
    break: async ({ machine: { probe } }) => {
      const ask = probe.request;
      probe.request = async (request) => {
        const answer = await ask(request);
        return request.path === '/health' && answer.kind === 'answered' ? { ...answer, status: 500 } : answer;
      };
    },
    link: 'health',
    cause: /answered 500 instead of 200/,
  },
  {
    what: 'an app that answers with errors',
    recipe: { healthCheck: { path: '/broken', status: 500 } },
    link: 'answer',
    cause: /status 500/,
  },
  { what: 'a name of no app', address: 'http://nobody.apps.test/x', link: 'name', cause: /nobody\.apps\.test/ },
  { what: 'a name of another domain', address: 'shop.example.com', link: 'name', command: /cname add/ },
  {
    what: 'an extra name that leads nowhere',
    break: async (world) => {
      await cnames(world, 'www.shop.example');
      world.machine.probe.lost.add('www.shop.example');
    },
    link: 'name',
    command: /cname remove www\.shop\.example/,
    answers: true,
  },
  {
    what: 'a domain that leads nowhere',
    break: async (world) => world.machine.probe.lost.add('shop.apps.test'),
    link: 'name',
    command: /DNS/,
    answers: true,
  },
  {
    what: 'an edge that is gone',
    break: (world) => world.machine.router.stop(),
    link: 'edge',
    command: /server status/,
  },
  {
    what: 'an edge that nobody can speak with',
    break: async (world) =>
      world.faults.on('router.table', () => {
        throw new Error('no socket');
      }),
    link: 'edge',
    answers: true,
  },
  {
    what: 'an edge that does not know the app',
    break: (world) => world.machine.router.apply({ version: 1e15, routes: [] }),
    link: 'route',
    command: /healer run routes/,
  },
  {
    what: 'an edge that leads to a unit that is no more',
    break: async (world) => {
      const [route] = world.machine.table().routes;
      if (route === undefined) throw new Error('no route');
      const routes = [{ ...route, targets: [{ unit: 'gone', host: '127.0.0.1', port: 1 }] }];
      await world.machine.router.apply({ version: 1e15, routes });
    },
    link: 'route',
  },
  {
    what: 'a disk that is full',
    break: async (world) =>
      void (world.machine.probe.space = { freeBytes: 1024, totalBytes: 1024 ** 3, freeFiles: 9, totalFiles: 9 }),
    link: 'disk',
    answers: true,
  },
  { what: 'an app that is well', link: null },
  { what: 'an app that is well, at its address', address: 'HTTP://Shop.Apps.Test.:8000/path?query', link: null },
  {
    what: 'an extra name',
    break: (world) => cnames(world, 'www.shop.example'),
    address: 'www.shop.example',
    link: null,
  },
  {
    what: 'a failed deploy beside the version before it',
    break: async (world) => void (await world.deploy('shop', { failure: 'build_failed' }).catch(() => {})),
    link: null,
    notes: /failed, so the version before it serves/,
  },
  {
    what: 'an app that has swapped its address',
    break: async (world) => {
      await world.createApp('blog');
      await world.deploy('blog');
      await world.useCases.swap.swap(ANN, 'shop', 'blog', { force: true, cnameOnly: false });
    },
    link: null,
    notes: /blog\.apps\.test leads to shop/,
  },
];

let world: DomainWorld | null = null;
afterEach(async () => {
  await world?.dispose();
  world = null;
});

async function diagnosed(fixture: Fixture): Promise<Diagnosis> {
  world = await startDomain({ ...QUICK, ...fixture.settings });
  await world.createApp('shop');
  if (fixture.recipe !== null) await world.deploy('shop', fixture.recipe ?? {}).catch(() => {});
  await world.settled();
  await fixture.break?.(world);
  const { diagnoses } = world.useCases;
  return fixture.address === undefined ? diagnoses.ofApp(ANN, 'shop') : diagnoses.ofAddress(ANN, fixture.address);
}

describe('a diagnosis of', () => {
  it.each(FIXTURES)('$what', async (fixture) => {
    const found = await diagnosed(fixture);
    expect(found.broken?.link ?? null, JSON.stringify(found)).toBe(fixture.link);
    expect(found).toMatchObject({ well: fixture.link === null, answers: fixture.answers ?? fixture.link === null });
    if (fixture.cause !== undefined) expect(found.broken?.cause).toMatch(fixture.cause);
    expect(found.broken?.command ?? 'none needed').toMatch(fixture.command ?? /./);
    if (fixture.notes !== undefined) expect(found.notes.join('\n')).toMatch(fixture.notes);
    expect(found.links.map(({ link }) => link)).toEqual(LINKS.map(({ name }) => name));
    const at = found.links.findIndex(({ state }) => state === 'broken');
    const states = found.links.map(({ state }) => state);
    expect(new Set(states.slice(0, Math.max(0, at)))).toEqual(new Set(at > 0 ? ['holds'] : []));
    expect(states.slice(at + 1).every((state) => state === (at < 0 ? 'holds' : 'not looked at'))).toBe(true);
  });
});

it('names a first deploy that is under way', async () => {
  world = await startDomain();
  await world.createApp('shop');
  const build = world.faults.hold('builder.build');
  const deploying = world.deploy('shop');
  await build.reached;
  const { broken } = await world.useCases.diagnoses.ofApp(ANN, 'shop');
  expect(broken).toMatchObject({ link: 'deploy', cause: expect.stringContaining('under way') as string });
  build.release();
  await deploying;
  expect((await world.useCases.diagnoses.ofApp(ANN, 'shop')).well).toBe(true);
});

it('is for those with access to the app, at its address too', async () => {
  world = await startDomain();
  await world.createApp('shop');
  const bob: UserCaller = { ...ANN, email: 'bob@example.com', teams: ['others'] };
  const { diagnoses } = world.useCases;
  await expect(diagnoses.ofApp(bob, 'shop')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(diagnoses.ofAddress(bob, 'shop.apps.test')).rejects.toMatchObject({ code: 'access.denied' });
  await expect(diagnoses.ofApp(ANN, 'none')).rejects.toMatchObject({ code: 'app.not_found' });
  for (const address of ['', ' ', 'http://', 'a b', undefined, 7]) {
    await expect(diagnoses.ofAddress(ANN, address)).rejects.toMatchObject({ code: 'input.invalid' });
  }
});
