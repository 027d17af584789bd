/** What must hold of services once nothing goes on: provider, store and the environments of the apps agree. */
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import { withBindings } from '../../src/domain/services/binding-env.ts';
import type { InstanceSummary } from '../../src/domain/services/service.ts';
import { unitHosts } from '../../src/domain/services/unit-hosts.ts';
import type { DomainWorld } from './domain-wiring.ts';
import { until } from './until.ts';

/** Waits until it holds; fails with what is wrong. */
export async function expectSoundServices(world: DomainWorld): Promise<void> {
  await world.settled();
  let wrong: string[] = [];
  await until(async () => (wrong = await serviceViolations(world)).length === 0, {
    timeoutMs: 120_000,
    everyMs: 5,
    what: 'services that agree',
    detail: () => [...wrong, ...world.complaints].join('\n'),
  });
}

export async function serviceViolations(world: DomainWorld): Promise<string[]> {
  const { store } = world.machine;
  const orphans = await world.parts.orphans.find();
  const left = orphans.map(({ kind, instance, app, problem }) => `orphan ${kind} ${instance} ${app}: ${problem}`);
  const instances = await store.instances();
  const wrong = [...left, ...(await atProvider(world, instances))];
  for (const { name } of await store.apps()) wrong.push(...(await ofApp(world, name, instances)));
  return wrong;
}

/** What the provider has is what is recorded, no more and no less. */
async function atProvider({ machine }: DomainWorld, instances: readonly InstanceSummary[]): Promise<string[]> {
  const { store, endpoint } = machine;
  const wrong: string[] = [];
  const recorded = new Set(instances.map(({ id }) => id));
  for (const [id, { name }] of endpoint.instances) if (!recorded.has(id)) wrong.push(`nobody knows of ${name} (${id})`);
  for (const instance of instances) {
    const kept = endpoint.instances.get(instance.id);
    if (kept === undefined) {
      wrong.push(`the provider has no ${instance.name}`);
      continue;
    }
    const bindings = await store.bindings({ instance: instance.id });
    const hosts = bindings.map(({ appHost }) => appHost).sort();
    const there = [...kept.bindings.keys()].sort();
    if (hosts.join() !== there.join()) wrong.push(`${instance.name} is bound to ${there.join()}, not ${hosts.join()}`);
    for (const binding of bindings) {
      const given = kept.bindings.get(binding.appHost);
      const vars = JSON.stringify(Object.fromEntries([...(given?.vars ?? [])].sort()));
      if (vars !== JSON.stringify(Object.fromEntries(Object.entries(binding.vars).sort())))
        wrong.push(`${binding.app} has other variables of ${instance.name} than the provider gave`);
      const units = [...(given?.units ?? [])].sort().join();
      const serving = (await unitHosts(store, binding.app)).join();
      if (units !== serving) wrong.push(`${instance.name} knows ${units} of ${binding.app}, not ${serving}`);
    }
  }
  return wrong;
}

/** Its environment is its own variables and those of its bindings. */
async function ofApp({ machine }: DomainWorld, app: string, instances: readonly InstanceSummary[]): Promise<string[]> {
  const { store } = machine;
  const bound = (await store.bindings({ app })).flatMap(({ instance: id, vars, names: { names } }) => {
    const instance = instances.find((each) => each.id === id);
    return instance === undefined ? [] : [{ instance: instance.name, service: instance.service, vars, names }];
  });
  const env = await store.env(app);
  const is = JSON.stringify(envRecord(env));
  const should = JSON.stringify(envRecord(withBindings(env, bound)));
  return is === should ? [] : [`the environment of ${app} is ${is}, not ${should}`];
}

/** What a provider has of bindings and instances that neither are in use nor are listed as left over. */
export async function unlisted(world: DomainWorld): Promise<string[]> {
  const { store, endpoint } = world.machine;
  const listed = new Set((await world.parts.orphans.find()).map(({ id }) => id));
  const instances = await store.instances();
  const wrong: string[] = [];
  for (const [id, kept] of endpoint.instances) {
    const instance = instances.find((each) => each.id === id);
    if (instance === undefined) wrong.push(`nobody knows of the instance ${kept.name}`);
    else if (instance.state !== 'ready' && !listed.has(id)) wrong.push(`the instance ${kept.name} is not listed`);
    const bindings = await store.bindings({ instance: id });
    for (const appHost of kept.bindings.keys()) {
      const binding = bindings.find((each) => each.appHost === appHost);
      if (binding === undefined) wrong.push(`nobody knows of ${kept.name} bound to ${appHost}`);
      else if (binding.state !== 'bound' && !listed.has(binding.id))
        wrong.push(`${kept.name} of ${appHost} is not listed`);
    }
  }
  return wrong;
}
