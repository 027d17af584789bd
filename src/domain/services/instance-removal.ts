/** Removing an instance: at the provider first in spirit, but recorded before, so that a crash leaves nothing half-done. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import { demandInstance, demandService } from './demand-service.ts';
import { instanceLease, type Orphans } from './orphans.ts';
import { type Provider, providerFailed, unconfirmed } from './provider.ts';
import type { Instance } from './service.ts';
import { EndpointFailure } from './service-endpoint.ts';

interface RemoveOptions {
  /** Forgets the instance even if the provider does not. */
  readonly force?: boolean;
  /** Name of the service that the instance must be of; '' or absent for any. */
  readonly service?: string;
  /** Gets to know that the provider has not confirmed it yet. */
  readonly say?: Say;
}

export interface InstanceRemoval {
  /**
   * Errors: instance.not_found, instance.bound; provider.failed when the provider surely has not removed it, and then it is as
   * before. A provider that leaves it open whether it has is asked again in the background until it says so, and `say` says that.
   */
  remove(caller: Caller, name: string, options?: RemoveOptions): Promise<void>;
  /** Names of the apps that are bound to it, or about to be. */
  boundApps(caller: Caller, name: string, service?: string): Promise<string[]>;
}

export function createInstanceRemoval(deps: {
  readonly store: Store;
  readonly provider: Provider;
  readonly orphans: Orphans;
  readonly act: Act;
}): InstanceRemoval {
  const { store, provider, orphans, act } = deps;

  /** True when it was ready: then a removal that has surely not happened leaves it so. */
  async function begin(id: string): Promise<boolean> {
    return store.transact(async (tx) => {
      const instance = await tx.instanceById(id);
      if (instance === null) throw new PlatformError('instance.not_found', 'service instance not found');
      const apps = (await tx.bindingSummaries({ instance: id })).filter(({ state }) => state !== 'unbinding');
      if (apps.length > 0) throw bound(apps.map(({ app }) => app));
      await tx.updateInstance(id, { state: 'removing' });
      return instance.state === 'ready';
    });
  }

  async function carryOut(instance: Instance, { force = false, say = () => {} }: RemoveOptions): Promise<void> {
    const wasReady = await begin(instance.id);
    if (wasReady && !force) {
      const service = await demandService(store, instance.service);
      try {
        await provider.remove(service, instance);
      } catch (thrown) {
        if (!(thrown instanceof EndpointFailure)) throw thrown;
        if (!thrown.mayHaveHappened) {
          await store.transact((tx) => tx.updateInstance(instance.id, { state: 'ready' }));
          throw providerFailed(thrown, `Failed to remove the instance ${instance.name}`, instance.name);
        }
        await store.transact((tx) => tx.updateInstance(instance.id, { attempts: 1, problem: thrown.message }));
        orphans.wake();
        say(unconfirmed(thrown));
        return;
      }
      await store.transact((tx) => tx.deleteInstance(instance.id));
      return;
    }
    const failure = await orphans.undoInstance(instance.id, { isOver: true });
    if (failure === null) return;
    if (force) await store.transact((tx) => tx.deleteInstance(instance.id));
    else say(unconfirmed(failure));
  }

  return {
    async remove(caller, name, given = {}) {
      const { force = false, service = '' } = given;
      // One whose removal is under way is gone for everybody, but its removal can be repeated.
      const found = await store.instance(name);
      const isMeant = found !== null && (service === '' || found.service === service);
      const instance = isMeant ? found : await demandInstance(store, name, service);
      const detail = force ? `${instance.service} by force` : instance.service;
      const options = { target: `instance:${name}`, lease: instanceLease(name), detail };
      await act(caller, 'instance.remove', { instance }, options, () =>
        orphans.during(instance.id, () => carryOut(instance, given)),
      );
    },

    async boundApps(caller, name, service) {
      const instance = await demandInstance(store, name, service);
      demand(caller, 'instance.info', { instance });
      const bindings = await store.bindingSummaries({ instance: instance.id });
      return bindings.filter(({ state }) => state !== 'unbinding').map(({ app }) => app);
    },
  };
}

function bound(apps: readonly string[]): PlatformError {
  return new PlatformError(
    'instance.bound',
    'This service instance is bound to at least one app. Unbind them before removing it',
    { hint: `The apps: ${apps.join(', ')}.`, details: { apps } },
  );
}
