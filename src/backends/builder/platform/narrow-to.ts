import { chmod, lstat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArtifactPlace } from '../../../domain/artifacts/artifact-store.ts';
import { Failure } from '../../../domain/failure.ts';
import { removeTree } from '../../../lib/remove-tree.ts';

/**
 * Makes one directory of the source all of it. `root`: a relative path without `..`; '' leaves the source as it is. Throws Failure
 * `invalid_config` when it is not there; links are not followed, for what they lead to is gone with the rest.
 */
export async function narrowTo(
  { root, app }: { readonly root: string; readonly app: string },
  { code, directory }: Pick<ArtifactPlace, 'code' | 'directory'>,
): Promise<void> {
  if (root === '') return;
  let path = code;
  for (const part of root.split('/')) {
    path = join(path, part);
    const found = await lstat(path).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
      throw error;
    });
    if (found?.isDirectory() !== true) {
      throw new Failure('invalid_config', `The app's root is set to ${root}, and the source has no such directory.`, {
        hint: `Set another one and push again: tancho app update ${app} --root <directory>   (with --root "" it is all of the source)`,
      });
    }
  }
  const whole = join(directory, 'source');
  await rename(code, whole);
  await rename(join(whole, root), code);
  await chmod(code, (await lstat(whole)).mode & 0o777);
  await removeTree(whole);
}
