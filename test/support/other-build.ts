/** Another version of the built program, as an upgrade brings it: one file of the edge is another one. */
import { appendFile, cp, readdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { builtProgram } from './built.ts';

/** Below the folder; answers its main.js. */
export async function otherBuild(folder: string, name: string): Promise<string> {
  const dist = await builtProgram();
  const root = path.join(folder, name);
  await cp(dist, path.join(root, 'dist'), { recursive: true });
  for (const beside of await readdir(path.dirname(dist))) {
    if (beside !== 'dist' && beside !== '.git') await symlink(path.join(dist, '..', beside), path.join(root, beside));
  }
  await appendFile(path.join(root, 'dist/edge/edge.js'), `\n// ${name}\n`);
  return path.join(root, 'dist/main.js');
}
