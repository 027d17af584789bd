/** Units that their engine has started again while nobody here knew what it does: noted, and their requests go where they are. */
import type { Ownership } from './controls/ownership.ts';
import type { Journal } from './logs/journal.ts';
import type { Routes } from './routes/routes.ts';
import type { Store } from './store.ts';
import type { Engines } from './units/engines.ts';
import { movedUnits, noteMoved } from './units/moved-units.ts';
import { noteDown } from './units/note-down.ts';
import type { Comeback } from './units/provisioner.ts';
import type { Supervisor } from './units/supervisor.ts';
import { describeExit, unitName } from './units/unit.ts';

interface ComebackDeps {
  readonly store: Store;
  readonly provisioner: Engines;
  readonly supervisor: Supervisor;
  readonly routes: Routes;
  readonly ownership: Ownership;
  readonly journal: Journal;
}

/** Its deaths while control was away are recorded as those that control has seen, once each, and its requests go where it is now. */
export async function noteComeback(
  {
    store,
    journal,
    provisioner,
  }: Pick<ComebackDeps, 'store' | 'journal'> & {
    readonly provisioner: Pick<Engines, 'comebackNoted'>;
  },
  id: string,
  comeback: Comeback,
): Promise<void> {
  const { address } = comeback;
  const last = comeback.exits.at(-1);
  if (last === undefined) return;
  const { at, code, signal, outOfMemory } = last;
  const noted = await store.transact(async (tx) => {
    const unit = await tx.unit(id);
    if (unit === null || unit.state === 'stopped') return null;
    // A control that ended meanwhile may have stored some of them.
    const stored = comeback.exits.findLastIndex((exit) => exit.at === unit.lastExit?.at);
    const exits = comeback.exits.slice(stored + 1);
    if (exits.length === 0) return null;
    const moved = unit.state === 'started' && unit.address !== null && address !== null ? { address } : {};
    await tx.updateUnit(id, {
      exits: unit.exits + exits.length,
      lastExit: { at, code, signal, outOfMemory, lastLines: [] },
      ...moved,
    });
    return { unit, exits };
  });
  await provisioner.comebackNoted?.(id);
  if (noted === null) return;
  const { unit: known, exits } = noted;
  const often = exits.length > 1 ? ` (the last of ${exits.length} times)` : '';
  const what = `${known.process} ${unitName(known)} ${describeExit(last)} at ${last.at}${often}`;
  await journal.note(known.app, `${what}, while the platform was away; it was started again meanwhile`);
}

/** Also those of an engine that needed longer than the start to say what it has. Those that run go on having requests. */
export async function findMoved(deps: ComebackDeps): Promise<void> {
  const { store, provisioner, supervisor, routes, ownership } = deps;
  const work = await ownership.work();
  const apps = new Map((await store.apps()).map((app) => [app.name, app]));
  const serving = (await store.allUnits()).filter(
    ({ app, rollout, state }) =>
      state === 'started' && apps.get(app)?.rollout === rollout && (work?.rollouts.has(rollout) ?? true),
  );
  const comebacks = await provisioner.comebacks(new Set(serving.map(({ id }) => id)));
  for (const comeback of comebacks) await noteComeback(deps, comeback.id, comeback);
  const back = new Map(comebacks.map(({ id, address }) => [id, address]));
  const moved = await movedUnits(
    provisioner,
    serving.filter(({ id }) => !back.has(id)),
  );
  for (const [id, address] of moved) await noteMoved(store, id, address);
  // Nobody knows where they are: they are started as those that were found dead.
  const lost = serving.filter(({ id, address }) => back.get(id) === null && address !== null);
  for (const { id } of lost) await noteDown(store, id);
  const changed = serving.filter(({ id }) => back.has(id) || moved.has(id));
  if (changed.length > 0) await routes.publish(...new Set(changed.map(({ app }) => app)));
  for (const unit of lost) void supervisor.revive(unit);
}
