/** What keeps an app on the engine where it is. */
import { PlatformError } from '../errors.ts';
import type { Placement } from '../pools/placement.ts';
import type { StoreReader } from '../store.ts';
import { boundServices } from '../units/bound-services.ts';
import type { Engines } from '../units/engines.ts';
import { demandMountable } from '../volumes/release-mounts.ts';
import type { App, Release } from './app.ts';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3})$/i;

/**
 * Volumes lie where their units run, and links lead from one unit to another of the same engine. Throws `unsupported`, and what
 * Engines.at() throws.
 */
export async function demandMove(
  deps: { readonly store: Pick<StoreReader, 'apps'>; readonly engines: Pick<Engines, 'at'> },
  { app, serving, to }: { readonly app: App; readonly serving: Release; readonly to: Placement | null },
): Promise<void> {
  const [from, engine] = [deps.engines.at(serving.placement), deps.engines.at(to)];
  if (from.name === engine.name) return;
  const [mount] = serving.mounts;
  if (mount !== undefined) {
    throw stays(app, `its volume ${mount.volume} lies on the engine ${from.name}`, {
      hint: `Take it away first, with what is in it: tancho volume unmount ${mount.volume} -a ${app.name}.`,
    });
  }
  const linked = app.links[0] ?? (await deps.store.apps()).find(({ links }) => links.includes(app.name))?.name;
  if (linked !== undefined) {
    const [one, other] = app.links.length > 0 ? [app.name, linked] : [linked, app.name];
    throw stays(app, `${one} reaches ${other} on the engine ${from.name}`, {
      hint: `Unlink them first: tancho app unlink ${one} ${other}.`,
    });
  }
  if (serving.image !== '' && !engine.supports.images) {
    throw stays(app, `it runs an image, and the engine ${engine.name} runs none`, {
      hint: 'Deploy its source first: git push tancho HEAD:main.',
    });
  }
  demandMountable(serving, engine.supports);
  // Who may be used from several machines is on none of them.
  if (from.supports.controls === 'one' && engine.supports.controls === 'several') demandReachable(app, serving);
}

/** Whatever runs elsewhere has another loopback. */
function demandReachable(app: App, { env }: Pick<Release, 'env'>): void {
  const near = boundServices(env).find(({ host }) => LOOPBACK.test(host));
  if (near === undefined) return;
  const instance = env.find(({ managedBy, value }) => managedBy !== '' && value.includes(near.host))?.managedBy ?? '';
  throw stays(
    app,
    `the instance ${instance} that is bound to it is at ${near.host}:${near.port}, on this machine only`,
    {
      hint: `Bind one that other machines reach, then unbind this one: tancho instance unbind ${instance} -a ${app.name}.`,
    },
  );
}

function stays({ name }: App, why: string, options: { readonly hint: string }): PlatformError {
  return new PlatformError('unsupported', `${name} cannot be moved to that pool: ${why}.`, options);
}
