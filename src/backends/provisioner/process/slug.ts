/** Finds a built slug and makes it ready for its tenant. */
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ArtifactStore } from '../../../domain/artifacts/artifact-store.ts';
import { Failure } from '../../../domain/failure.ts';
import type { SlugManifest } from '../../../domain/artifacts/slug.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { KeyedQueue } from '../../../lib/keyed-queue.ts';

export interface Slug {
  readonly code: string;
  readonly manifest: SlugManifest;
}

interface SlugRequest {
  readonly artifacts: Pick<ArtifactStore, 'open'>;
  readonly artifact: string;
  readonly app: string;
  readonly sandbox: Sandbox;
  readonly queue: KeyedQueue;
}

/** Throws Failure `internal` when the slug is not there. */
export async function openSlug({ artifacts, artifact, app, sandbox, queue }: SlugRequest): Promise<Slug> {
  const slug = await artifacts.open(artifact);
  if (slug === null) throw missing(artifact);
  const { code, manifest } = slug;
  if ((manifest.image ?? manifest.base) !== undefined && !sandbox.roots) throw noRoots();
  // In turn, for a second hand-over during the first would take the tree away from a unit that has just started.
  await queue.run(`slug:${artifact}`, async () => {
    await sandbox.own(code, app);
    if (sandbox.level !== 'plain') await chmod(dirname(code), 0o711);
  });
  return { code, manifest };
}

function noRoots(): Failure {
  return new Failure(
    'internal',
    'This app runs an image, and units here have no root file system of their own any more.',
    {
      hint: 'An operator can install the package "bubblewrap" and restart the server; or deploy the source.',
    },
  );
}

function missing(artifact: string): Failure {
  return new Failure('internal', `The built code "${artifact}" is not on this machine or is damaged.`, {
    hint: 'Deploy the app again.',
  });
}
