/** Use case of operators: how the platform itself is. */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { DEPLOY_STATES, type DeployState, FINISHED } from '../deploys/deploy.ts';
import type { DiskSpace, MachineProbe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Host, MachineNow, PlatformProcess, InstalledProgram } from './host.ts';

export interface HealthReport {
  readonly programs: readonly InstalledProgram[];
  readonly processes: readonly PlatformProcess[];
  readonly machine: MachineNow;
  /** Null where it cannot be asked. */
  readonly space: DiskSpace | null;
  readonly reserveBytes: number;
  /** Unfinished deploys by state, in the order of their way; states without one are left out. */
  readonly deploys: readonly { readonly state: DeployState; readonly count: number }[];
  /** Builds that may run at once. */
  readonly buildSlots: number;
}

export interface Health {
  /** For admins. */
  report(caller: Caller): Promise<HealthReport>;
}

interface HealthDeps {
  readonly store: Pick<Store, 'product' | 'unfinishedDeploys'>;
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly host: Host;
  readonly settings: Pick<Settings, 'buildSlots' | 'diskReserveBytes'>;
}

export function createHealth({ store, probe, host, settings }: HealthDeps): Health {
  return {
    async report(caller) {
      demand(caller, 'server.health');
      const [programs, processes, space, unfinished, product] = await Promise.all([
        host.programs(),
        host.processes(),
        probe.disk(),
        store.unfinishedDeploys(),
        store.product(),
      ]);
      const deploys = DEPLOY_STATES.filter((state) => !FINISHED.has(state))
        .map((state) => ({ state, count: unfinished.filter((deploy) => deploy.state === state).length }))
        .filter(({ count }) => count > 0);
      const { buildSlots, diskReserveBytes: reserveBytes } = settings;
      const made = [...programs, product];
      return { programs: made, processes, machine: host.machine(), space, reserveBytes, deploys, buildSlots };
    },
  };
}
