/** What must hold of a domain world that is at rest, whatever happened before; see violations(). */
import type { App, Release } from '../../src/domain/apps/app.ts';
import { wantedCounts } from '../../src/domain/units/wanted-units.ts';
import { FINISHED } from '../../src/domain/deploys/deploy.ts';
import { envRecord } from '../../src/domain/units/unit-spec.ts';
import type { DomainWorld } from './domain-wiring.ts';
import { until } from './until.ts';

const ALL = 100_000;

/** Waits until the world is at rest in a right state; fails with what is wrong. */
export async function expectSound(world: DomainWorld): Promise<void> {
  await world.settled();
  let wrong: string[] = [];
  await until(async () => (wrong = await violations(world)).length === 0, {
    timeoutMs: 120_000,
    everyMs: 5,
    what: 'a sound state',
    detail: () => [...wrong, ...world.complaints].join('\n'),
  });
}

/** Every rule that is broken at this moment, one sentence each; empty when all is well. */
export async function violations(world: DomainWorld): Promise<string[]> {
  const { store } = world.machine;
  const apps = await store.apps();
  const perApp = await Promise.all(apps.map((app) => violationsOf(world, app)));
  return [...perApp.flat(), ...(await unfinished(world)), ...(await leftovers(world, apps))];
}

async function violationsOf(world: DomainWorld, app: App): Promise<string[]> {
  const { store } = world.machine;
  const wrong: string[] = [];
  if (app.removing) wrong.push(`${app.name} is still being removed`);
  const releases = await store.releases(app.name, ALL);
  const numbers = releases.map((release) => release.number);
  if (numbers.some((number, at) => at > 0 && number !== (numbers[at - 1] ?? 0) - 1)) {
    wrong.push(`the releases of ${app.name} are ${numbers.join(' ')}`);
  }
  const serving = releases.find((release) => release.number === app.release);
  if (app.release !== null && serving === undefined) wrong.push(`release ${app.release} of ${app.name} is not there`);
  if (app.release !== (numbers[0] ?? null)) wrong.push(`${app.name} serves ${app.release} of ${numbers.join(' ')}`);
  if (serving !== undefined) wrong.push(...(await violationsOfServing(world, app, serving)));
  wrong.push(...(await violationsOfUnits(world, app, serving)));
  return wrong;
}

/** The environment, the release and the code on disk agree. */
async function violationsOfServing(world: DomainWorld, app: App, serving: Release): Promise<string[]> {
  const { store, artifacts } = world.machine;
  const wrong: string[] = [];
  if (!artifacts.kept.has(serving.artifact)) wrong.push(`the slug ${serving.artifact} is gone`);
  const stored = JSON.stringify(envRecord(await store.env(app.name)));
  const released = JSON.stringify(envRecord(serving.env));
  if (stored !== released) wrong.push(`the environment of ${app.name} is ${stored}, of its release ${released}`);
  const rollout = app.rollout === null ? null : await store.rollout(app.rollout);
  // Where units stayed, the rollout that once started them goes on serving.
  if (rollout?.state !== 'done' || rollout.release > serving.number) {
    wrong.push(`the serving rollout of ${app.name} is ${JSON.stringify(rollout)}`);
  }
  return wrong;
}

/** Exactly the units of the serving release run, on its engine, by its code and environment, and exactly they are routed. */
async function violationsOfUnits(world: DomainWorld, app: App, serving: Release | undefined): Promise<string[]> {
  const { store, units: own, elsewhere } = world.machine;
  const { table } = world;
  const machine = (serving?.placement ?? null) === null ? own : elsewhere;
  const wrong: string[] = [];
  const records = await store.units(app.name);
  const counts = serving === undefined ? [] : [...wantedCounts(serving, app)];
  const wanted = counts.flatMap(([name, count]) => Array<string>(count).fill(name));
  const found = records.map((unit) => unit.process);
  if (found.sort().join() !== wanted.sort().join())
    wrong.push(`units of ${app.name}: ${found.join()}, not ${wanted.join()}`);
  for (const unit of records) {
    const where = `unit ${app.name}/${unit.index} (${unit.id})`;
    if (unit.rollout !== app.rollout) wrong.push(`${where} belongs to another rollout`);
    if (unit.state !== 'started') wrong.push(`${where} is ${unit.state}`);
    const process = machine.entries.get(unit.id);
    if (process === undefined || process.unit.exit !== null) wrong.push(`${where} does not run`);
    else if (serving !== undefined) {
      const { artifact, env } = process.spec;
      if (artifact !== serving.artifact) wrong.push(`${where} runs ${artifact}`);
      if (JSON.stringify(env) !== JSON.stringify(envRecord(serving.env)))
        wrong.push(`${where} has ${JSON.stringify(env)}`);
    }
  }
  const routes = table().routes.filter((candidate) => candidate.app === app.name);
  const routed = routes.flatMap(({ targets }) => targets.map((target) => `${target.unit}:${target.port}`)).sort();
  const ready = records.flatMap((unit) => (unit.address === null ? [] : [`${unit.id}:${unit.address.port}`])).sort();
  if (routes.length === 0 || routed.join() !== ready.join()) {
    wrong.push(`routed of ${app.name}: ${routed.join()}, not ${ready.join()}`);
  }
  return wrong;
}

async function unfinished(world: DomainWorld): Promise<string[]> {
  const { store } = world.machine;
  const rollouts = (await store.unfinishedRollouts()).map(
    ({ id, app, state }) => `rollout ${id} of ${app} is ${state}`,
  );
  const deploys = await store.deploys({ limit: ALL, skip: 0 });
  const open = deploys.filter((deploy) => !FINISHED.has(deploy.state) || deploy.finishedAt === null);
  return [...rollouts, ...open.map((deploy) => `deploy ${deploy.id} of ${deploy.app} is ${deploy.state}`)];
}

/** Nothing is on the machine that no app needs. */
async function leftovers(world: DomainWorld, apps: readonly App[]): Promise<string[]> {
  const { store, artifacts, builder, gitHost, units, elsewhere } = world.machine;
  const { table } = world;
  const names = apps.map((app) => app.name);
  const wrong: string[] = [];
  const repositories = await gitHost.list();
  if (repositories.sort().join() !== names.join())
    wrong.push(`repositories: ${repositories.join()}, not ${names.join()}`);
  for (const { app } of await gitHost.heldPushes()) wrong.push(`a push to ${app} is held`);
  const routed = [...new Set(table().routes.map((route) => route.app))].sort();
  if (routed.join() !== names.join()) wrong.push(`routes: ${routed.join()}, not ${names.join()}`);
  const recorded = new Set((await store.allUnits()).map((unit) => unit.id));
  for (const unit of await world.parts.provisioner.list()) {
    if (!recorded.has(unit.id)) wrong.push(`unit ${unit.id} of ${unit.app} is a stray, ${unit.state}`);
  }
  for (const { spec, unit } of [...units.entries.values(), ...elsewhere.entries.values()]) {
    if (!recorded.has(spec.id) && unit.exit === null)
      wrong.push(`unit ${spec.id} of ${spec.app} runs without a record`);
  }
  const needed = new Set<string>();
  for (const name of names) for (const { artifact } of await store.releases(name, ALL)) needed.add(artifact);
  for (const id of artifacts.kept.keys()) if (!needed.has(id)) wrong.push(`slug ${id} belongs to no release`);
  for (const app of builder.caches) if (!names.includes(app)) wrong.push(`the cache of ${app} is still there`);
  return wrong;
}
