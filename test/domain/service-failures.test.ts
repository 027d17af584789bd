/** What a provider that fails does to whom: to the one who asked, to nobody else, and to no secret. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Fault } from '../../src/backends/service-endpoint/memory/faults.ts';
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { EndpointFailure } from '../../src/domain/services/service-endpoint.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { expectSound } from '../support/invariants.ts';
import { expectSoundServices } from '../support/service-invariants.ts';
import { until } from '../support/until.ts';

const CANARY = 'canary-of-the-provider';
const WAIT_MS = 60_000;
const say = (): void => {};

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  world.machine.deadlines = { createMs: 300, changeMs: 300, lookMs: 100 };
  world = await world.next();
  const manifest = parseManifest(`id: db\npassword: ${CANARY}-password\nendpoint:\n  production: http://x\n`);
  await world.useCases.services.create(ANN, manifest);
  world.machine.endpoint.variables = (_instance, _binding, serial) => ({ URL: `${CANARY}-${serial}\n"second" line` });
  await world.createApp('shop');
  await world.deploy('shop');
  await world.useCases.instances.create(ANN, { name: 'one', service: 'db' });
});
afterEach(() => world.dispose());

const bind = (): Promise<Record<string, string>> => world.useCases.bindings.bind(ANN, 'one', 'shop', {}, say);

function failing(...faults: Fault[]): void {
  const coming = [...faults];
  world.machine.fault = () => coming.shift() ?? 'none';
}

it.each([
  ['refuses', 'Failed to bind the instance "one" to the app "shop": The provider says no.'],
  ['away', 'one api is down.'],
  ['dies after', 'one api is down.'],
  ['hangs', 'Failed to bind the instance "one" to the app "shop": The provider'],
  ['lies', 'Failed to bind the instance "one" to the app "shop": The answer is not what'],
] as const)('a provider that %s fails a binding, which then works', async (fault, message) => {
  failing(fault);
  await expect(bind()).rejects.toMatchObject({ code: 'provider.failed', message: expect.stringContaining(message) });
  await bind();
  await expectSoundServices(world);
  await expectSound(world);
});

it('what cannot be undone now is listed, keeps its name, and is undone later', async () => {
  failing('dies after', ...Array<Fault>(200).fill('away'));
  await expect(bind()).rejects.toThrow();
  const [orphan] = await world.parts.orphans.find();
  expect(orphan).toMatchObject({ kind: 'binding', instance: 'one', service: 'db', app: 'shop' });
  expect(orphan?.problem).toBe('Nothing listens there.');
  await expect(bind()).rejects.toMatchObject({ code: 'provider.failed' });
  await until(async () => ((await world.parts.orphans.find())[0]?.attempts ?? 0) > 2, {
    timeoutMs: WAIT_MS,
    what: 'several attempts',
  });
  failing();
  expect((await world.parts.orphans.heal()).remaining).toEqual([]);
  await bind();
  await expectSoundServices(world);
});

it('what cannot be undone for long keeps nothing newer waiting', async () => {
  world.machine.pauses = { firstMs: 20, longestMs: 60_000 };
  world = await world.next();
  failing('dies after', ...Array<Fault>(6).fill('away'));
  await expect(bind()).rejects.toThrow();
  const left = async (): Promise<number> => (await world.parts.orphans.find()).length;
  await until(async () => (await left()) === 0, { timeoutMs: WAIT_MS, what: 'the first to be undone' });
  failing('dies after', 'away');
  await expect(bind()).rejects.toThrow();
  await until(async () => (await left()) === 0, { what: 'the second to be undone soon' });
});

it('a provider that is not ready is reported in the words of what was asked', async () => {
  world.faults.on('endpoint.remove', () => {
    throw new EndpointFailure('precondition_failed', 'Not now.', { mayHaveHappened: false, status: 412 });
  });
  await expect(world.useCases.instances.remove(ANN, 'one')).rejects.toMatchObject({
    code: 'instance.not_ready',
    message: 'Failed to remove the instance one: Not now.',
  });
  world.faults.on('endpoint.plans', () => {
    throw new EndpointFailure('precondition_failed', 'Not now.', { mayHaveHappened: false, status: 412 });
  });
  const asked = world.useCases.services.plans(ANN, 'db');
  await expect(asked).rejects.toMatchObject({
    code: 'provider.failed',
    message: 'Failed to get the plans of db: Not now.',
  });
});

it('a provider that was away at first learns of the units that have gone, too', async () => {
  const units = (): string[] =>
    [...world.machine.endpoint.instances.values()].flatMap(({ bindings }) =>
      [...bindings.values()].flatMap((binding) => [...binding.units]),
    );
  await bind();
  await until(async () => units().length === 1, { timeoutMs: WAIT_MS, what: 'the unit to be reported' });
  const untold: string[] = [];
  world.faults.on('endpoint.unbindUnit', () => {
    untold.push('asked');
    if (untold.length === 1) throw new EndpointFailure('unreachable', 'Nothing.', { mayHaveHappened: false });
  });
  let away = true;
  world.faults.on('endpoint.unbind', () => {
    if (away) throw new EndpointFailure('unreachable', 'Nothing.', { mayHaveHappened: false });
  });
  await world.useCases.bindings.unbind(ANN, 'one', 'shop', { noRestart: true }, say);
  away = false;
  await until(async () => (await world.machine.store.bindingSummaries()).length === 0, {
    timeoutMs: WAIT_MS,
    what: 'the end',
  });
  expect(untold).toEqual(['asked', 'asked']);
});

it('no instance is called what its provider would take for the list of plans', async () => {
  const asked = world.useCases.instances.create(ANN, { name: 'plans', service: 'db' });
  await expect(asked).rejects.toMatchObject({ code: 'instance.invalid_name' });
});

it('an instance of the only plan of a broker stays of that plan', async () => {
  const { endpoint } = world.machine;
  const manifest = parseManifest('id: broker\nkind: osb\nendpoint:\n  production: http://x\n');
  await world.useCases.services.create(ANN, manifest);
  endpoint.plans = async () => [{ name: 'only', description: '' }];
  await world.useCases.instances.create(ANN, { name: 'first', service: 'broker' });
  endpoint.plans = async () => ['only', 'more'].map((name) => ({ name, description: '' }));
  await world.useCases.instances.create(ANN, { name: 'second', service: 'broker' });
  expect((await world.machine.store.instance('first'))?.plan).toBe('only');
  expect((await world.machine.store.instance('second'))?.plan).toBe('');
});

it('an instance whose removal is in doubt is gone for users, and its name is free as soon as the provider confirms', async () => {
  failing('dies after', ...Array<Fault>(500).fill('away'));
  const said: string[] = [];
  await world.useCases.instances.remove(ANN, 'one', { say: (line) => said.push(line) });
  await world.useCases.instances.remove(ANN, 'one', { say: (line) => said.push(line) });
  expect(said).toEqual([
    expect.stringContaining('did not confirm it (The connection broke.); it is asked again until it does.'),
    expect.stringContaining('did not confirm it (Nothing listens there.); it is asked again until it does.'),
  ]);
  await expect(world.useCases.instances.info(ANN, 'one')).rejects.toMatchObject({ code: 'instance.not_found' });
  expect(await world.useCases.instances.list(ANN, {})).toEqual([{ service: 'db', instances: [] }]);
  failing();
  await until(async () => (await world.machine.store.instances()).length === 0, {
    timeoutMs: WAIT_MS,
    what: 'the instance to be removed',
  });
  await world.useCases.instances.create(ANN, { name: 'one', service: 'db' });
});

it('an instance that was surely not removed is as before, unless by force', async () => {
  failing('refuses');
  await expect(world.useCases.instances.remove(ANN, 'one')).rejects.toMatchObject({ code: 'provider.failed' });
  await bind();
  await world.useCases.bindings.unbind(ANN, 'one', 'shop', {}, say);
  failing('away');
  await world.useCases.instances.remove(ANN, 'one', { force: true });
  expect(await world.machine.store.instances()).toEqual([]);
  expect(await world.parts.orphans.find()).toEqual([]);
});

it('a provider that hangs keeps no start waiting, and no other app', async () => {
  // Longer than this test may take.
  world.machine.deadlines = { createMs: 600_000, changeMs: 600_000, lookMs: 600_000 };
  world = await world.next();
  failing(...Array<Fault>(100).fill('hangs'));
  void bind().catch(() => undefined);
  await until(async () => (await world.machine.store.bindingSummaries()).length === 1, {
    timeoutMs: WAIT_MS,
    what: 'a binding',
  });
  await world.restart('shop');
  world = await world.next();
  expect(await world.parts.orphans.find()).toHaveLength(1);
  failing();
  await expectSoundServices(world);
});

it('what comes late to a provider that remembers nothing is undone there again, and listed until then', async () => {
  world.machine.lateMs = 1_500;
  world = await world.next();
  const { endpoint } = world.machine;
  for (const begin of [bind, () => world.useCases.instances.create(ANN, { name: 'two', service: 'db' })]) {
    failing('hangs');
    const real = { bind: endpoint.bind.bind(endpoint), create: endpoint.create.bind(endpoint) };
    const late: (() => Promise<unknown>)[] = [];
    world.faults.on(
      'endpoint.bind',
      (given) => void late.push(() => real.bind(...(given as Parameters<typeof real.bind>))),
    );
    world.faults.on(
      'endpoint.create',
      (given) => void late.push(() => real.create(...(given as Parameters<typeof real.create>))),
    );
    await expect(begin()).rejects.toMatchObject({ code: 'provider.failed' });
    const [orphan] = await world.parts.orphans.find();
    expect(orphan?.problem).toContain('late');
    await late[0]?.();
    await until(async () => (await world.parts.orphans.find()).length === 0, {
      timeoutMs: WAIT_MS,
      what: 'it to be over',
    });
    await expectSoundServices(world);
    failing();
    await begin();
    await expectSoundServices(world);
  }
});

it('what is in case it comes late keeps nobody from trying again', async () => {
  world.machine.lateMs = 60_000;
  world = await world.next();
  failing('hangs');
  await expect(bind()).rejects.toMatchObject({ code: 'provider.failed' });
  const report = await world.useCases.healers.run({ ...ANN, isAdmin: true }, 'services');
  expect(report.found).toMatchObject([{ outcome: 'healed', action: expect.stringContaining('stays listed') }]);
  await bind();
  failing('dies after');
  await expect(world.useCases.instances.create(ANN, { name: 'two', service: 'db' })).rejects.toThrow();
  await world.useCases.instances.create(ANN, { name: 'two', service: 'db' });
  await world.useCases.instances.remove(ANN, 'two');
  failing('lies');
  await expect(world.useCases.instances.create(ANN, { name: 'two', service: 'db' })).rejects.toThrow();
  expect(await world.parts.orphans.find()).toHaveLength(1);
  await world.useCases.bindings.unbind(ANN, 'one', 'shop', {}, say);
  await world.useCases.instances.remove(ANN, 'one');
  await expect(world.useCases.services.remove(ANN, 'db')).rejects.toMatchObject({
    code: 'service.has_instances',
    hint: expect.stringContaining('Still being removed at the provider: two.'),
  });
  await world.useCases.instances.remove(ANN, 'two');
  expect(await world.parts.orphans.find()).toEqual([]);
  await expectSoundServices(world);
});

it('what the provider gives is struck out of its own words, however late they come', async () => {
  const { URL: url = '' } = await bind();
  world.machine.endpoint.info = () =>
    Promise.resolve([
      { label: 'Where', value: 'db://admin:s3cret@one' },
      { label: 'Name', value: 'one' },
    ]);
  expect((await world.useCases.instances.info(ANN, 'one')).info).toEqual([
    { label: 'Where', value: 'db://***@one' },
    { label: 'Name', value: 'one' },
  ]);
  const undo = world.faults.on('endpoint.unbind', () => {
    throw new EndpointFailure('refused', `cannot drop ${url}`, { mayHaveHappened: true });
  });
  const said: string[] = [];
  await world.useCases.bindings.unbind(ANN, 'one', 'shop', {}, (line) => said.push(line));
  world = await world.next();
  world.faults.on('endpoint.unbind', () => {
    throw new EndpointFailure('refused', `cannot drop ${url}`, { mayHaveHappened: true });
  });
  await world.parts.orphans.heal();
  const [orphan] = await world.parts.orphans.find();
  expect(orphan?.problem).toBe('cannot drop ***');
  expect(said.join()).toContain('cannot drop ***');
  expect(said.join()).not.toContain(CANARY);
  undo();
});

it('a service may be called what every object has, and what does not fit into one variable is refused', async () => {
  const { services, instances, bindings } = world.useCases;
  await services.create(ANN, parseManifest('id: constructor\npassword: s\nendpoint:\n  production: http://x\n'));
  await instances.create(ANN, { name: 'odd', service: 'constructor' });
  await bindings.bind(ANN, 'odd', 'shop', {}, say);
  const env = envRecord(await world.machine.store.env('shop'));
  expect(Object.keys(JSON.parse(env['TANCHO_SERVICES'] ?? '') as object)).toEqual(['constructor']);
  await bindings.unbind(ANN, 'odd', 'shop', {}, say);
  world.machine.endpoint.variables = () => ({ A: 'x'.repeat(65_000), B: 'x'.repeat(65_000) });
  await expect(bindings.bind(ANN, 'one', 'shop', { noRestart: true }, say)).rejects.toMatchObject({
    code: 'env.invalid',
  });
  await expectSoundServices(world);
});

it('a provider that takes long for each answer is asked about some instances of a list, and nobody waits for the rest', async () => {
  for (let n = 0; n < 11; n++) await world.useCases.instances.create(ANN, { name: `more-${n}`, service: 'db' });
  let asked = 0;
  world.machine.fault = () => {
    asked += 1;
    world.machine.pass(9_000);
    return 'none';
  };
  const views = await world.useCases.instances.ofService(ANN, 'db');
  expect([views.length, views.filter(({ info }) => info !== null).length, asked]).toEqual([12, 8, 8]);
});

it('what the provider gives is in the environment of the app and nowhere else', async () => {
  const said: string[] = [];
  await bind();
  await world.deploy('shop', { processes: { web: 'serve' } }, { say: (line) => said.push(line) });
  failing('lies');
  const error = await world.useCases.bindings
    .unbind(ANN, 'one', 'shop', {}, (line) => said.push(line))
    .then(
      () => null,
      (thrown: unknown) => thrown,
    );
  await expectSoundServices(world);
  // An app that prints its variables when it cannot start with them.
  await world.deploy('shop', {
    processes: { web: 'serve' },
    hooks: { restartBefore: ['print $URL'], restartAfter: [] },
  });
  await bind();
  const broken = await world
    .deploy(
      'shop',
      { processes: { web: 'print $URL; print $TSURU_SERVICES; exit 3' } },
      { say: (line) => said.push(line) },
    )
    .catch((thrown: unknown) => thrown);
  const events = await world.machine.store.events(1_000);
  const entries = await world.useCases.logs.query(ANN, 'shop', { lines: 0 });
  const views = [
    await world.useCases.instances.list(ANN, {}),
    await world.useCases.instances.ofService(ANN, 'db'),
    await world.useCases.deploys.list(ANN, {}),
    await world.useCases.apps.list(ANN),
    await world.parts.orphans.find(),
  ];
  expect(broken).toBeInstanceOf(PlatformError);
  const thrown = [error, broken].map((one) =>
    one instanceof PlatformError ? [one.message, one.hint, JSON.stringify(one.details)].join() : String(one),
  );
  const all = [...said, ...thrown, ...world.complaints, JSON.stringify([events, entries, views])].join('\n');
  expect(all).toContain('shop');
  expect(all).not.toContain(CANARY);
});
