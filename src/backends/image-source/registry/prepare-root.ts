/** The last touches to a root: what a running process finds in every sandbox, and what its image wants to be there. */
import { basename } from 'node:path';
import type { SlugImage } from '../../../domain/deploys/slug.ts';
import type { ImageConfig } from './image-config.ts';
import { partsOf, type RootTree } from './root-tree.ts';
import { runsAs } from './runs-as.ts';

/** Covered by what the sandbox puts there. */
const MOUNT_POINTS = ['dev', 'proc', 'sys', 'tmp'];
const COVERED_FILES = ['hosts', 'resolv.conf'];
const PROGRAMS = ['/bin/sh', '/bin/bash', '/usr/bin/setsid'];

/** Throws Failure `invalid_source`. */
export async function prepareRoot(tree: RootTree, config: ImageConfig): Promise<Omit<SlugImage, 'digest'>> {
  tree.beginLayer();
  for (const name of MOUNT_POINTS) await tree.mountPoint(name);
  for (const name of COVERED_FILES) await tree.file(['etc', name], { mode: 0o644 }, nothing());
  for (const path of [config.directory, ...config.volumes]) await tree.makeDirectory(partsOf(path));
  const { uid, gid, home } = await runsAs(tree, config.user);
  const { directory, ports } = config;
  return { directory, home, uid, gid, ports, programs: await programsIn(tree) };
}

async function programsIn(tree: RootTree): Promise<string[]> {
  const found: string[] = [];
  for (const program of PROGRAMS) {
    const place = await tree.locate(partsOf(program));
    if (place === null || !place.facts.isFile() || (place.facts.mode & 0o111) === 0) continue;
    // Where one program is many, it does less under this name.
    if (program.endsWith('setsid') && basename(place.place) !== 'setsid') continue;
    found.push(program);
  }
  return found;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
