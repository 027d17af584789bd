/** Going back: which older release is meant, and the new one that is equal to it. */
import type { AppReader } from '../apps/app-store.ts';
import type { App, Release } from '../apps/app.ts';
import type { NewRelease, Surroundings } from '../apps/next-release.ts';
import { PlatformError } from '../errors.ts';
import type { StoreReader, StoreWriter } from '../store.ts';

const SCAN = 500;
/** `v3`, `3`, and how other platforms of this family name a version: `registry/app-shop:v3`. */
const VERSION = /^(?:\S*:)?v?(\d{1,9})$/;

/**
 * `image`: the artifact of a deploy, its image with or without the digest, or the deploy's id, the number of a release, or `previous`: the one that served before.
 * Throws `input.invalid` for an empty one, `release.not_found`.
 */
export async function findRelease(
  store: Pick<StoreReader, 'release' | 'releases' | 'deploy'>,
  app: App,
  image: string,
): Promise<Release> {
  const wanted = image.trim();
  if (wanted === '') {
    throw new PlatformError('input.invalid', 'you cannot rollback without an image name', {
      hint: 'Send image=<image, release number or "previous">.',
    });
  }
  const kept = await store.releases(app.name, SCAN);
  const found =
    wanted === 'previous'
      ? kept.find((release) => release.number < (app.release ?? 0))
      : (kept.find((release) => isNamed(release, wanted)) ??
        (await ofDeploy(store, kept, wanted)) ??
        kept.find((release) => release.number === Number(VERSION.exec(wanted)?.[1] ?? 0)));
  if (found !== undefined) return found;
  throw new PlatformError('release.not_found', `invalid image for app ${app.name}: ${wanted.slice(0, 200)}`, {
    hint: `The releases there are: ${kept.map(({ number }) => `v${number}`).join(', ')}.`,
  });
}

/** An image also by its name alone: the newest that was meant by it. */
function isNamed({ artifact, image }: Release, wanted: string): boolean {
  return artifact === wanted || image === wanted || image.startsWith(`${wanted}@`);
}

async function ofDeploy(
  store: Pick<StoreReader, 'deploy'>,
  kept: readonly Release[],
  id: string,
): Promise<Release | undefined> {
  const deploy = /^[0-9a-f]{24}$/.test(id) ? await store.deploy(id) : null;
  return deploy === null ? undefined : kept.find((release) => release.artifact === deploy.artifact);
}

/** Equal in code and processes; `env` has its own variables and what bindings give now, and what units may use, and where, is as it is now. */
export function backTo(
  old: Release,
  now: Surroundings & { readonly deployId: string; readonly by: string; readonly at: Date },
): NewRelease {
  const { number: _number, ...same } = old;
  const { env, limits, placement, deployId, by, at } = now;
  return { ...same, env, limits, placement, deployId, reason: 'rollback', by, createdAt: at.toISOString() };
}

/** The app's environment becomes that of the release. */
export async function restoreEnv(tx: StoreWriter, release: Pick<Release, 'app' | 'env'>): Promise<void> {
  const names = new Set(release.env.map((variable) => variable.name));
  const gone = (await tx.env(release.app)).filter((variable) => !names.has(variable.name));
  await tx.unsetEnv(
    release.app,
    gone.map((variable) => variable.name),
  );
  await tx.setEnv(release.app, release.env);
}

/** The artifacts that can be gone back to: kept, and not the one that serves. */
export async function pastArtifacts(
  store: Pick<AppReader, 'artifacts'>,
  apps: readonly Pick<App, 'name' | 'release'>[],
): Promise<Set<string>> {
  const serving = new Map(apps.map((app) => [app.name, app.release]));
  const found = await store.artifacts([...serving.keys()]);
  const current = found.filter(({ app, release }) => serving.get(app) === release);
  const past = new Set(found.map(({ artifact }) => artifact));
  for (const { artifact } of current) past.delete(artifact);
  return past;
}
