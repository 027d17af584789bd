/** Where a process beside the units lives: a home and a directory for temporary files of its own, gone when it is. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomHex } from '../../../lib/ids.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { ReachedService } from '../../../networks/networks.ts';
import type { DiskWriters } from '../../../domain/disk/disk-writers.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { volumePath } from '../../../domain/volumes/volume-host.ts';
import type { Sandbox, SandboxBind, SandboxProcess, SandboxTree } from '../../../sandbox/sandbox.ts';
import { type CodeLayers, type CodePlace, heldOf } from './code-layers.ts';
import { type LinkedNames, linkedNames } from './linked-names.ts';
import type { Slug } from './slug.ts';
import { mountVolumes } from './volume-mounts.ts';

export interface Beside {
  readonly sandbox: Sandbox;
  readonly slug: Slug;
  readonly layers: CodeLayers;
  /** Directory for one-off homes. */
  readonly directory: string;
  /** The port of the unit beside which it runs; where that does not run, one that is free. */
  readonly port: number;
  readonly services: readonly ReachedService[];
  /** Directory of all volumes. */
  readonly volumes: string;
  readonly writers: DiskWriters;
}

export interface OneOffPlace {
  /** Of the sandbox. */
  readonly id: string;
  readonly own: string;
  readonly home: string;
  readonly tmp: string;
  readonly place: CodePlace;
  readonly volumes: readonly SandboxBind[];
  readonly hosts: string | null;
  /** Variables by which it finds the apps that its own is linked to. */
  readonly links: LinkedNames['env'];
  /** To be called with the process that lives there. */
  readonly started: (process: SandboxProcess) => void;
}

interface OneOffRequest {
  readonly unit: UnitSpec;
  readonly signal: AbortSignal;
}

/**
 * When the work has ended, nothing that lived there is left: no process and no file. It is to end when its signal fires, which is more than the
 * request's. Throws Failure `disk_low` where it was ended to make room.
 */
export function inPlace<T>(
  beside: Beside,
  { unit, signal }: OneOffRequest,
  work: (place: OneOffPlace, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const id = `run-${randomHex(12)}`;
  const own = join(beside.directory, id);
  const { app, volumes = [] } = unit;
  // It writes these whatever their size is.
  const shared = volumes.map(({ name }) => join(beside.volumes, volumePath({ app, name })));
  const writer = { app, what: 'command', shared, directories: async () => ({ own: [own] }) } as const;
  return beside.writers.during(writer, signal, (ending) => at(id, own, beside, unit, (place) => work(place, ending)));
}

async function at<T>(
  id: string,
  own: string,
  beside: Beside,
  spec: UnitSpec,
  work: (place: OneOffPlace) => Promise<T>,
): Promise<T> {
  const { sandbox, layers, slug } = beside;
  const { app } = spec;
  const home = join(own, 'home');
  const tmp = join(own, 'tmp');
  const life: { root: SandboxTree | null } = { root: null };
  try {
    await mkdir(home, { recursive: true, mode: 0o711 });
    await mkdir(tmp, { recursive: true });
    for (const path of [home, tmp]) await sandbox.own(path, app);
    const isRoot = slug.manifest.image !== undefined;
    const place = await layers.lay(slug.code, own, { tenant: app, isRoot, held: heldOf(spec), beside: [home, tmp] });
    const volumes = await mountVolumes({ sandbox, slug, place, spec, volumes: beside.volumes, isBeside: true });
    const started = ({ main, rootPid, rootStart }: SandboxProcess): void => {
      life.root = { rootPid, rootStart, id };
      // What fails here is done again at the end.
      main.then(() => layers.settled(own)).catch(() => undefined);
    };
    const { hosts, env: links } = await linkedNames(sandbox, app, own);
    return await work({ id, own, home, tmp, place, volumes, hosts, links, started });
  } finally {
    // By its root: without one the sandbox looks at every process of the machine. What could not be started it has ended itself.
    if (life.root !== null) await sandbox.kill(life.root, 'SIGKILL');
    await sandbox.release(id);
    await layers.clear(own);
    await removeTree(own);
  }
}
