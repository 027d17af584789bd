/** Use case of operators: how full the disk is, and who holds what of it. */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import type { DiskSpace, MachineProbe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { DiskHolder, DiskHolders } from './disk-holders.ts';
import { demandSome } from './disk-room.ts';

export interface DiskReport {
  /** Null where it cannot be asked. */
  readonly space: DiskSpace | null;
  /** Below so much free space no new code is taken. */
  readonly reserveBytes: number;
  /** Those that hold most come first. */
  readonly holders: readonly DiskHolder[];
}

export interface DiskUse {
  /** For admins. Takes seconds where there are many files. */
  report(caller: Caller): Promise<DiskReport>;
  /** For doors, before what they are sent is written anywhere. Throws `unavailable`. */
  demandSome(): Promise<void>;
}

interface DiskUseDeps {
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly holders: DiskHolders;
  readonly settings: Pick<Settings, 'diskReserveBytes'>;
}

export function createDiskUse({ probe, holders, settings }: DiskUseDeps): DiskUse {
  return {
    async report(caller) {
      demand(caller, 'server.disk');
      const [space, all] = await Promise.all([probe.disk(), holders()]);
      return { space, reserveBytes: settings.diskReserveBytes, holders: all };
    },
    demandSome: () => demandSome({ probe, holders }),
  };
}
