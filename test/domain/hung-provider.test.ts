/** A provider that hangs holds up nobody but itself: neither the units of apps bound elsewhere, nor what is left undone there. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createServicesHealer } from '../../src/domain/healers/services-healer.ts';
import { type Endpoint, type EndpointCall, EndpointFailure } from '../../src/domain/services/service-endpoint.ts';
import { parseManifest } from '../../src/domain/services/manifest.ts';
import { ANN, type DomainWorld, startDomain } from '../support/domain-world.ts';
import { until } from '../support/until.ts';

const LONGER_THAN_A_TEST_MS = 600_000;
/** More than are asked at once. */
const MANY = 20;
const say = (): void => {};

let world: DomainWorld;
beforeEach(async () => {
  world = await startDomain();
  world.machine.deadlines = {
    createMs: LONGER_THAN_A_TEST_MS,
    changeMs: LONGER_THAN_A_TEST_MS,
    lookMs: LONGER_THAN_A_TEST_MS,
  };
  world = await world.next();
  for (const id of ['hung', 'good']) {
    const manifest = parseManifest(`id: ${id}\npassword: s3cret\nendpoint:\n  production: http://x\n`);
    await world.useCases.services.create(ANN, manifest);
  }
});
afterEach(() => world.dispose());

/** Until it is given up: no call of a method reaches the provider of the service `hung`. */
function hang(method: string): void {
  world.faults.on(`endpoint.${method}`, async (given) => {
    const [endpoint, call] = [given[0] as Endpoint, given.at(-1) as EndpointCall];
    if (endpoint.service !== 'hung') return;
    const over = Promise.withResolvers<void>();
    call.signal.addEventListener('abort', () => over.resolve(), { once: true });
    if (!call.signal.aborted) await over.promise;
  });
}

it('the units of an app are made known to one provider while another one hangs', async () => {
  for (const [app, service] of [
    ['one', 'hung'],
    ['two', 'good'],
  ] as const) {
    await world.createApp(app);
    await world.deploy(app);
    await world.useCases.instances.create(ANN, { name: `of-${app}`, service });
  }
  let asked = 0;
  world.faults.on('endpoint.bindUnit', (given) => {
    if ((given[0] as Endpoint).service === 'hung') asked += 1;
  });
  hang('bindUnit');
  await world.useCases.bindings.bind(ANN, 'of-one', 'one', {}, say);
  await until(() => asked > 0, { what: 'the provider that hangs to be asked' });
  await world.useCases.bindings.bind(ANN, 'of-two', 'two', {}, say);
  const known = (): number => {
    const instances = [...world.machine.endpoint.instances.values()];
    const bindings = instances.flatMap((instance) => [...instance.bindings.values()]);
    return bindings.find(({ app }) => app === 'two')?.units.size ?? 0;
  };
  await until(() => known() > 0, { what: 'the other provider to know the unit' });
});

it('what is left at one provider is undone while many things are left at another one, which hangs', async () => {
  for (let index = 0; index < MANY; index += 1) {
    await world.useCases.instances.create(ANN, { name: `db-${index}`, service: 'hung' });
  }
  await world.useCases.instances.create(ANN, { name: 'other', service: 'good' });
  hang('remove');
  const { store } = world.machine;
  for (const { id } of await store.instances()) {
    await store.transact((tx) => tx.updateInstance(id, { state: 'removing' }));
  }
  world.parts.orphans.wake();
  await until(async () => (await store.instance('other')) === null, { what: 'the other one to be undone' });
  expect(await store.instances()).toHaveLength(MANY);
});

it('a run of the healer waits once for a provider that hangs, however much is left there', async () => {
  const nothing = { kind: 'instance', app: '', since: '', attempts: 0, problem: '' } as const;
  const left = ['hung', 'away', 'hung', 'away', 'hung'].map((service, index) => {
    return { ...nothing, service, id: `${service}-${index}`, instance: `db-${index}` };
  });
  const asked: string[] = [];
  const healer = createServicesHealer({
    find: async () => left,
    async undo({ id, service }) {
      asked.push(id);
      const code = service === 'hung' ? 'timeout' : 'unreachable';
      return new EndpointFailure(code, 'It does not answer.', { mayHaveHappened: true });
    },
  });
  for (const finding of await healer.find()) {
    await expect(healer.heal(finding)).rejects.toMatchObject({ code: 'healer.failed' });
  }
  expect(asked).toEqual(['hung-0', 'away-1', 'away-3']);
});
