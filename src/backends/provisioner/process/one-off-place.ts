/** Where a process beside the units lives: a home and a directory for temporary files of its own, gone when it is. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomHex } from '../../../lib/ids.ts';
import { removeTree } from '../../../lib/remove-tree.ts';
import type { Service } from '../../../lib/networks/networks.ts';
import type { Sandbox } from '../../../lib/sandbox/sandbox.ts';
import type { Slug } from './slug.ts';

export interface Beside {
  readonly sandbox: Sandbox;
  readonly slug: Slug;
  /** Directory for one-off homes. */
  readonly directory: string;
  /** The port of the unit beside which it runs, if that runs. */
  readonly port: number | null;
  readonly services: readonly Service[];
}

export interface Place {
  /** Of the sandbox. */
  readonly id: string;
  readonly own: string;
  readonly home: string;
  readonly tmp: string;
}

/** When the work has ended, nothing that lived there is left: no process and no file. */
export async function inPlace<T>(beside: Beside, app: string, work: (place: Place) => Promise<T>): Promise<T> {
  const { sandbox, directory } = beside;
  const id = `run-${randomHex(12)}`;
  const own = join(directory, id);
  const home = join(own, 'home');
  const tmp = join(own, 'tmp');
  try {
    await mkdir(home, { recursive: true, mode: 0o711 });
    await mkdir(tmp, { recursive: true });
    for (const path of [home, tmp]) await sandbox.own(path, app);
    return await work({ id, own, home, tmp });
  } finally {
    await sandbox.kill({ rootPid: 0, rootStart: '', id }, 'SIGKILL');
    await sandbox.release(id);
    await removeTree(own);
  }
}
