import type { ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import type { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import type { AddressGuard } from '../../../lib/guarded/address-guard.ts';
import type { Logger } from '../../../lib/logger.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { ProjectQuotas } from '../../../lib/project-quotas.ts';
import type { Sealer } from '../../../lib/seal.ts';
import type { PortRange } from './ports.ts';
import type { ReadinessLimits } from './readiness.ts';

/** On this machine. */
export type Artifacts = Pick<ArtifactStore, 'open'>;

export interface ProcessProvisionerOptions {
  readonly sandbox: Sandbox;
  readonly artifacts: Artifacts;
  /** Directory with one directory per unit; ours alone. */
  readonly units: string;
  /** Keep the kernel's limits of what units write; absent: there are none. */
  readonly quotas?: ProjectQuotas;
  /** Directory of volumes, see domain/volumes/volume-host.ts; absent: units have none. */
  readonly volumes?: string;
  /** Where commands and shells are noted; absent: nobody watches what they write. */
  readonly writers?: DiskWriters;
  readonly logger: Logger;
  /** Seals what it takes to start units again while control is away; absent: they are not. */
  readonly sealer?: Sealer;
  /** Takes care of units while control is away: their deaths are recorded, and still to be reported to control. */
  readonly isKeeper?: boolean;
  readonly portRange?: PortRange;
  readonly readiness?: ReadinessLimits;
  /** Decides which of the services bound to an app are opened to it; absent: none. */
  readonly guard?: AddressGuard;
}
