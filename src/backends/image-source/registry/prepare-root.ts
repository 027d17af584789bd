/** The last touches to a root: what a running process finds in every sandbox, and what its image wants to be there. */
import { basename } from 'node:path';
import { MACHINE_FILES, type SlugImage } from '../../../domain/artifacts/slug.ts';
import { unfit } from './failures.ts';
import type { ImageConfig } from './image-config.ts';
import { partsOf, type RootTree } from './root-tree.ts';
import { runsAs } from './runs-as.ts';

const SYSTEM_DIRECTORIES = ['dev', 'proc', 'sys', 'tmp'];
const FILES_OF_THE_MACHINE = ['hosts', 'resolv.conf'];
/** Each is mounted by itself. */
const MAX_AT_THE_TOP = 200;
const PROGRAMS = ['/bin/sh', '/bin/bash', '/usr/bin/setsid'];

/** Throws Failure `invalid_source`. */
export async function prepareRoot(tree: RootTree, config: ImageConfig): Promise<Omit<SlugImage, 'digest'>> {
  tree.beginLayer();
  for (const name of SYSTEM_DIRECTORIES) await tree.realDirectory(name);
  for (const name of FILES_OF_THE_MACHINE) await tree.symbolicLink(['etc', name], `${MACHINE_FILES}/${name}`);
  for (const path of [config.directory, ...config.volumes]) await tree.makeDirectory(partsOf(path));
  const user = await runsAs(tree, config.user);
  if ((await tree.names()).length > MAX_AT_THE_TOP) {
    throw unfit(`it has more than ${MAX_AT_THE_TOP} files and directories at its top.`, 'Put them into a directory.');
  }
  const { directory, ports } = config;
  return { directory, ...user, ports, programs: await programsIn(tree) };
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
