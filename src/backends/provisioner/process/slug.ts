/** Finds a built slug and makes it ready for its tenant. */
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import type { SlugManifest } from '../../../domain/deploys/slug.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import type { KeyedQueue } from '../../../lib/keyed-queue.ts';

export interface Slug {
  readonly code: string;
  readonly manifest: SlugManifest;
}

interface SlugRequest {
  readonly slugs: string;
  readonly artifact: string;
  readonly app: string;
  readonly sandbox: Sandbox;
  readonly queue: KeyedQueue;
}

const ARTIFACT = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/;

/** Throws Failure `internal` when the slug is not there. */
export async function openSlug({ slugs, artifact, app, sandbox, queue }: SlugRequest): Promise<Slug> {
  if (!ARTIFACT.test(artifact)) throw missing(artifact);
  const directory = join(slugs, artifact);
  const code = join(directory, 'code');
  let manifest: Partial<SlugManifest>;
  try {
    manifest = JSON.parse(await readFile(join(directory, 'slug.json'), 'utf8')) as Partial<SlugManifest>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) throw missing(artifact);
    throw error;
  }
  if (manifest.image !== undefined && !sandbox.roots) throw noRoots();
  // In turn, for a second hand-over during the first would take the tree away from a unit that has just started.
  await queue.run(`slug:${artifact}`, async () => {
    await sandbox.own(code, app);
    if (sandbox.level !== 'plain') await chmod(directory, 0o711);
  });
  const { platform = '', path = [], env = {}, binds = [], image } = manifest;
  return { code, manifest: { format: 1, platform, path, env, binds, ...(image !== undefined && { image }) } };
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
