/** Units that should run and do not: those whose death nobody noted, those that nobody starts again, and those that do not answer. */
import type { LivenessChecks } from '../units/liveness.ts';
import type { Provisioner } from '../units/provisioner.ts';
import type { Routes } from '../routes/routes.ts';
import type { Supervisor } from '../units/supervisor.ts';
import { type Unit, unitName } from '../units/unit.ts';
import type { Ownership } from '../controls/ownership.ts';
import type { Units } from '../units/units.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { Finding, Healer } from './healer.ts';

/** One that fails its looks is ended by liveness.ts, once it has failed enough of them; before that only for who asks for it. */
const NEVER = Number.POSITIVE_INFINITY;

export interface UnitsHealerDeps {
  readonly store: Store;
  readonly provisioner: Provisioner;
  readonly supervisor: Supervisor;
  readonly units: Units;
  readonly ownership: Ownership;
  readonly routes: Routes;
  readonly liveness: Pick<LivenessChecks, 'problemOf'>;
  readonly now: () => Date;
}

export function createUnitsHealer(deps: UnitsHealerDeps): Healer {
  const { store, provisioner, supervisor, units, ownership, routes, liveness, now } = deps;

  /** What is wrong with a unit of the serving rollout; null: nothing that is not looked after. */
  function problemOf(unit: Unit, mayRun: ReadonlySet<string>): Pick<Finding, 'problem' | 'graceMs'> | null {
    const name = `${unit.process} ${unitName(unit)}`;
    if (unit.state === 'started') {
      if (!mayRun.has(unit.id)) return { problem: `${name} is to run, and its process is gone.`, graceMs: 0 };
      const detail = liveness.problemOf(unit.id);
      return detail === null ? null : { problem: `${name} does not answer: ${detail}.`, graceMs: NEVER };
    }
    if (unit.state === 'stopped' || supervisor.isLookingAfter(unit.id)) return null;
    return { problem: `${name} is in state ${unit.state}, and nobody starts it.`, graceMs: 0 };
  }

  return {
    name: 'units',
    description: 'starts units that should run and do not, and again those that do not answer',

    async find() {
      // What an engine that is away has may well run.
      const mayRun = new Set(
        (await provisioner.list())
          .filter(({ state }) => state === 'running' || state === 'unknown')
          .map((unit) => unit.id),
      );
      const apps = new Map((await store.apps()).map((app) => [app.name, app]));
      const work = await ownership.work();
      const findings: Finding[] = [];
      for (const unit of await store.allUnits()) {
        const app = apps.get(unit.app);
        const serves = app !== undefined && !app.removing && app.rollout === unit.rollout;
        if (!serves || work?.rollouts.has(unit.rollout) === false) continue;
        const problem = problemOf(unit, mayRun);
        if (problem !== null) findings.push({ target: `unit:${unit.id}`, app: unit.app, ...problem });
      }
      return findings;
    },

    async heal({ target }) {
      const id = target.slice('unit:'.length);
      const unit = await store.unit(id);
      if (unit === null) return 'The unit is gone.';
      const reason = unit.state === 'started' ? liveness.problemOf(id) : null;
      if (reason !== null) {
        await supervisor.replaceHung(unit, { reason, wellUntil: now().getTime() });
        return 'It was ended, and is started again.';
      }
      if (unit.state === 'started') {
        await units.died({ id, code: null, signal: null, outOfMemory: false });
        await routes.publish(unit.app);
      }
      await supervisor.revive(unit);
      if ((await store.unit(id))?.state === 'started') return 'It was started again.';
      throw new PlatformError('healer.failed', 'It did not start; it is tried again after growing delays.');
    },
  };
}
