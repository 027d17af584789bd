/** Units that no serving rollout has: processes without a record, and records of rollouts that are over. */
import type { Provisioner } from '../units/provisioner.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import { unitName } from '../units/unit.ts';
import type { Units } from '../units/units.ts';
import type { Store } from '../store.ts';
import type { Finding, Healer } from './healer.ts';

const GRACE_MS = 60_000;
const STOP_MS = 1_000;

interface StraysHealerDeps {
  readonly store: Store;
  readonly provisioner: Provisioner;
  readonly rollouts: Rollouts;
  readonly units: Units;
}

export function createStraysHealer(deps: StraysHealerDeps): Healer {
  const { store, provisioner, rollouts, units } = deps;

  async function withoutRecord(): Promise<Finding[]> {
    const found: Finding[] = [];
    const seen = await provisioner.list();
    const known = new Set((await store.allUnits()).map(({ id }) => id));
    for (const { id, app, state } of seen) {
      // Nobody could end it now.
      if (state === 'unknown' || known.has(id)) continue;
      if ((await store.unit(id)) !== null) continue;
      const problem = `A unit of ${app} is on this machine that no record names.`;
      found.push({ target: `unit:${id}`, app, problem, graceMs: GRACE_MS });
    }
    return found;
  }

  async function leftOver(): Promise<Finding[]> {
    const apps = new Map((await store.apps()).map((app) => [app.name, app]));
    // A rollout that goes on ends its units, and those before it, itself.
    const open = await store.unfinishedRollouts();
    const isBusy = (name: string): boolean =>
      open.some(({ id, app, state }) => app === name && (rollouts.isEnding(id) || state === 'starting'));
    const over = (await store.allUnits()).filter((unit) => {
      const app = apps.get(unit.app);
      return app !== undefined && !app.removing && app.rollout !== unit.rollout && !isBusy(unit.app);
    });
    return over.map((unit) => ({
      target: `unit:${unit.id}`,
      app: unit.app,
      problem: `${unit.process} ${unitName(unit)} belongs to a rollout that is over.`,
      graceMs: GRACE_MS,
    }));
  }

  return {
    name: 'strays',
    description: 'ends units that belong to nothing that serves',

    async find() {
      return [...(await withoutRecord()), ...(await leftOver())];
    },

    async heal({ target }) {
      const id = target.slice('unit:'.length);
      const unit = await store.unit(id);
      if (unit !== null) await units.retire(unit);
      else {
        await provisioner.stop(id, STOP_MS);
        await provisioner.remove(id);
      }
      return 'It was ended, and nothing of it is left.';
    },
  };
}
