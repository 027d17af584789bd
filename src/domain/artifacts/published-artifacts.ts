/** Artifacts as images for engines on other machines: pushed with the first release that needs it, removed when no release names them. */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { App, Release } from '../apps/app.ts';
import type { NewRelease } from '../apps/next-release.ts';
import { Failure } from '../failure.ts';
import { loginsOf } from '../registries/registry-login.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import type { Engines } from '../units/engines.ts';
import type { ImageRegistry } from './image-registry.ts';

export interface PublishedDeps {
  readonly store: Store;
  readonly engines: Pick<Engines, 'at'>;
  /** Null: the operator has named none. */
  readonly imageRegistry: ImageRegistry | null;
  readonly logger: Logger;
}

interface Publication<Of extends Release | NewRelease> {
  readonly app: App;
  readonly release: Of;
  readonly say: Say;
  readonly signal: AbortSignal;
}

/** Of one request, where nobody waits for it. */
const REMOVAL_MS = 60_000;

/** The release as its engine can run it. Throws Failure as ImageRegistry.publish(). */
export async function publishedFor<Of extends Release | NewRelease>(
  { store, engines, imageRegistry }: PublishedDeps,
  { app, release, say, signal }: Publication<Of>,
): Promise<Of> {
  const engine = engines.at(release.placement);
  if (engine.supports.artifacts !== 'images' || release.published !== '') return release;
  if (imageRegistry === null) {
    throw new Failure('push_failed', `The engine ${engine.name} runs images only, and this server pushes none.`, {
      hint: 'Ask the operator to name a registry in the setting "images.registry".',
    });
  }
  say('-----> Pushing the image');
  const logins = loginsOf(await store.registryLogins(), app.teamOwner);
  const processes = Object.fromEntries(Object.entries(release.processes).map(([name, { command }]) => [name, command]));
  const { artifact, image } = release;
  const request = { app: app.name, artifact, image, processes, logins };
  const published = await imageRegistry.publish(request, (line) => say(`       ${line}`), signal);
  return { ...release, published };
}

/** Of releases that are gone. What cannot be removed now is found by a later removeStrays(). */
export async function withdrawPublished(
  { imageRegistry, logger }: Pick<PublishedDeps, 'imageRegistry' | 'logger'>,
  app: string,
  names: Iterable<string>,
): Promise<void> {
  if (imageRegistry === null) return;
  for (const published of names) {
    await bestEffort(logger, 'removing an image', async () => {
      const isGone = await imageRegistry.withdraw({ app, published }, AbortSignal.timeout(REMOVAL_MS));
      if (!isGone) logger.warn({ app, image: published }, 'the registry removes no images; its operator has to');
    });
  }
}

/** Images of artifacts that no release names, and no deploy is about to. To be called by who holds the app's lease. */
export async function removeStrays(
  { store, imageRegistry, logger }: Omit<PublishedDeps, 'engines'>,
  app: string,
): Promise<void> {
  const named = await store.artifacts([app]);
  if (imageRegistry === null || !named.some(({ published }) => published !== '')) return;
  const inWork = (await store.unfinishedDeploys()).filter((deploy) => deploy.app === app);
  if (inWork.length > 0) return;
  const kept = new Set(named.map(({ artifact }) => artifact));
  const names = [...new Set(named.map(({ published }) => published))];
  await bestEffort(logger, 'removing stray images', async () => {
    for (const { artifact } of await imageRegistry.list(app, AbortSignal.timeout(REMOVAL_MS))) {
      if (kept.has(artifact)) continue;
      await imageRegistry.withdraw({ app, artifact, unless: names }, AbortSignal.timeout(REMOVAL_MS));
    }
  });
}

/** Everything that is there of an app that goes. */
export async function withdrawAll(
  { store, imageRegistry, logger }: Omit<PublishedDeps, 'engines'>,
  app: string,
): Promise<void> {
  const published = new Set((await store.artifacts([app])).map((one) => one.published));
  published.delete('');
  if (published.size > 0) await withdrawPublished({ imageRegistry, logger }, app, published);
}
