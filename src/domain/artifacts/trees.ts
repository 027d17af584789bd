/** Pure: what of the disk an artifact is made of, and how it lies in an image: at the same paths, for code may know where it was built. */
import type { OpenArtifact } from './artifact-store.ts';
import { ORDINARY_USER } from './slug.ts';
import type { TarTree } from '../../lib/tree-tar.ts';

/** What it shares with others first (programs, dependencies), its own code last. */
export function treesOf({ code, manifest }: Pick<OpenArtifact, 'code' | 'manifest'>): TarTree[] {
  const shared = [...manifest.binds].sort();
  const { uid, gid } = manifest.base ?? { uid: ORDINARY_USER, gid: ORDINARY_USER };
  return [
    ...shared.map((path) => ({ directory: path, at: path, uid: 0, gid: 0, isPublic: true })),
    { directory: code, at: code, uid, gid },
  ];
}
