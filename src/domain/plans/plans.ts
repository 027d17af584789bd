/** Use cases of plans: what there are, and the admins' changes of that. Which plan an app has is its own, see app-changes.ts. */
import type { Act } from '../act.ts';
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import type { Provisioner } from '../units/provisioner.ts';
import type { Router } from '../routes/router.ts';
import { PlatformError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { demandPlan } from './demand-plan.ts';
import {
  BUILT_IN_PLAN,
  builtInPlan,
  checkPlanName,
  MAX_DISK_BYTES,
  MIN_CPU_MILLIS,
  MIN_DISK_BYTES,
  MIN_MEMORY_BYTES,
  type Plan,
} from './plan.ts';

interface NewPlan {
  readonly name: unknown;
  /** Bytes; 0 for no limit. */
  readonly memoryBytes: number;
  /** Thousandths of a processor; 0 for no limit. */
  readonly cpuMillis: number;
  readonly cpuShare: number;
  /** Bytes of files that a unit has written for itself; 0: the platform's setting. */
  readonly diskBytes: number;
  readonly isDefault: boolean;
}

export interface Plans {
  /** The built-in one first, then by name. Exactly one is the default. */
  list(caller: Caller): Promise<Plan[]>;
  /** Errors: plan.invalid, plan.name_taken; unsupported for a limit that this machine cannot hold units to. */
  create(caller: Caller, plan: NewPlan): Promise<void>;
  /** Errors: plan.not_found, plan.in_use (details.apps; also for the built-in one). */
  remove(caller: Caller, name: string): Promise<void>;
  /** The routers there are, by name. */
  routers(caller: Caller): Promise<readonly string[]>;
}

interface PlansDeps {
  readonly store: Store;
  readonly act: Act;
  readonly provisioner: Pick<Provisioner, 'supports'>;
  readonly router: Pick<Router, 'name'>;
  readonly settings: Pick<Settings, 'unitLimits' | 'machine'>;
  readonly now: () => Date;
}

export function createPlans(deps: PlansDeps): Plans {
  const { store, act, provisioner, router, settings, now } = deps;

  function checkLimits({ memoryBytes, cpuMillis, diskBytes }: NewPlan): void {
    const { machine } = settings;
    demandWithin('memory', memoryBytes, [MIN_MEMORY_BYTES, machine.memoryBytes], 'bytes');
    demandWithin('cpumilli', cpuMillis, [MIN_CPU_MILLIS, machine.cpuMillis], 'thousandths of a processor');
    demandWithin('disk', diskBytes, [MIN_DISK_BYTES, MAX_DISK_BYTES], 'bytes');
    if (memoryBytes > 0 && !provisioner.supports.memoryLimit) throw unsupported('memory');
    if (cpuMillis > 0 && !provisioner.supports.cpuLimit) throw unsupported('processor time');
  }

  return {
    async list(caller) {
      demand(caller, 'plan.list');
      const stored = await store.plans();
      return [builtInPlan(settings.unitLimits, !stored.some((plan) => plan.isDefault)), ...stored];
    },

    async create(caller, input) {
      await act(caller, 'plan.create', {}, { target: planTarget(input.name) }, async () => {
        const name = checkPlanName(input.name);
        if (name === BUILT_IN_PLAN) throw new PlatformError('plan.name_taken', 'plan already exists');
        checkLimits(input);
        await store.transact((tx) => tx.insertPlan({ ...input, name, createdAt: now().toISOString() }));
      });
    },

    async remove(caller, name) {
      await act(caller, 'plan.remove', {}, { target: planTarget(name) }, async () => {
        await store.transact(async (tx) => {
          await demandPlan(tx, name);
          if (name === BUILT_IN_PLAN) throw inUse('The plan "default" comes with the platform and stays.', []);
          const apps = (await tx.apps()).filter((app) => app.plan === name).map((app) => app.name);
          if (apps.length > 0)
            throw inUse(`The plan ${name} cannot be removed, apps have it: ${apps.join(', ')}.`, apps);
          await tx.deletePlan(name);
        });
      });
    },

    async routers(caller) {
      demand(caller, 'plan.routers');
      return [router.name];
    },
  };
}

function planTarget(name: unknown): string {
  return `plan:${typeof name === 'string' ? name.slice(0, 63) : ''}`;
}

function demandWithin(field: string, value: number, [min, max]: readonly [number, number], unit: string): void {
  if (value === 0 || (value >= min && value <= max)) return;
  throw new PlatformError(
    'plan.invalid',
    `invalid value for ${field}: it must be 0 or from ${min} to ${max} ${unit}.`,
    {
      hint: 'This machine has no more to give to a unit; with 0 the plan sets no limit.',
    },
  );
}

function unsupported(what: string): PlatformError {
  return new PlatformError('unsupported', `This machine cannot limit the ${what} of units.`, {
    hint: 'The log of the server says at its start which limits it can set; leave this one out.',
  });
}

function inUse(message: string, apps: readonly string[]): PlatformError {
  return new PlatformError('plan.in_use', message, {
    ...(apps.length > 0 && {
      hint: 'Give them another one first: tancho app update <app> --plan <plan>.',
      details: { apps },
    }),
  });
}
