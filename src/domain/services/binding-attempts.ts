/**
 * The first half of every binding: recorded, then asked of the provider. Until the app has it, it is only the provider's to undo,
 * and whatever goes wrong until then does undo it.
 */
import { randomUUID } from 'node:crypto';
import { demand } from '../access.ts';
import { demandApp } from '../demand-app.ts';
import { type Caller, callerName } from '../caller.ts';
import { callerNow } from '../caller-now.ts';
import { PlatformError } from '../errors.ts';
import type { Settings } from '../settings.ts';
import type { Store, StoreWriter } from '../store.ts';
import { demandService } from './demand-service.ts';
import { isOver, type Orphans } from './orphans.ts';
import { type Provider, providerFailed } from './provider.ts';
import { type Binding, type BoundNames, type Instance, UNCONFIRMED } from './service.ts';
import { EndpointFailure } from './service-endpoint.ts';
import { unitHosts } from './unit-hosts.ts';

const NOT_READY = 'You cannot bind any app to this service instance because it is not ready yet.';

export type Answered = ReadonlyMap<string, string>;

export interface BindingAttempts {
  /**
   * A new binding, and what `work` makes of it and of the variables that the provider has answered; it is to make it `bound`
   * (see commitBinding). The caller holds the lease of the pair. Errors: binding.exists, instance.not_found, instance.not_ready,
   * provider.failed, and those of `work`; then it is undone, and what cannot be undone now stays recorded.
   */
  attempt<T>(
    caller: Caller,
    on: { readonly instance: Instance; readonly app: string; readonly names: BoundNames },
    work: (binding: Binding, answered: Answered) => Promise<T>,
  ): Promise<T>;
}

interface BindingAttemptsDeps {
  readonly store: Store;
  readonly provider: Provider;
  readonly orphans: Orphans;
  readonly settings: Pick<Settings, 'domain'>;
  readonly now: () => Date;
}

export function createBindingAttempts(deps: BindingAttemptsDeps): BindingAttempts {
  const { store, provider, orphans, settings, now } = deps;

  /** What an earlier attempt may have left at the provider must be gone first: it would be taken for the new one later. */
  async function clearPair(instance: Instance, app: string): Promise<void> {
    const [left] = await store.bindings({ app, instance: instance.id });
    if (left === undefined) return;
    if (left.state === 'bound') {
      throw new PlatformError('binding.exists', 'This app is already bound to this service instance.');
    }
    const failure = await orphans.undoBinding(left.id, { isOver: true });
    if (failure === null) return;
    throw providerFailed(failure, 'An earlier binding of this app is not undone yet', instance.name);
  }

  async function begin(caller: Caller, { id }: Instance, app: string, names: BoundNames): Promise<Binding> {
    const binding: Binding = {
      id: randomUUID(),
      instance: id,
      app,
      state: 'binding',
      appHost: `${app}.${settings.domain}`,
      user: callerName(caller),
      vars: {},
      names,
      unitHosts: [],
      createdAt: now().toISOString(),
      attempts: 0,
      problem: '',
    };
    await store.transact(async (tx) => {
      await demandApp(tx, app);
      const current = await tx.instanceById(id);
      if (current?.state !== 'ready') throw notReady(current);
      demand(await callerNow(tx, caller, binding.createdAt), 'instance.bind', { instance: current });
      await tx.insertBinding(binding);
    });
    return { ...binding, unitHosts: await unitHosts(store, app) };
  }

  return {
    async attempt(caller, { instance, app, names }, work) {
      await clearPair(instance, app);
      const binding = await begin(caller, instance, app, names);
      return orphans.during(binding.id, async () => {
        let mayBeThere = true;
        let isAnswered = true;
        const notified: string[] = [];
        const onNotify = (unitHost: string): Promise<void> => {
          notified.push(unitHost);
          return store.transact((tx) => tx.updateBinding(binding.id, { unitHosts: [UNCONFIRMED + unitHost] }));
        };
        try {
          const service = await demandService(store, instance.service);
          const answered = await provider.bind(service, instance, binding, onNotify).catch((thrown: unknown) => {
            if (!(thrown instanceof EndpointFailure)) throw thrown;
            mayBeThere = thrown.mayHaveHappened;
            isAnswered = isOver(thrown);
            throw providerFailed(
              thrown,
              `Failed to bind the instance "${instance.name}" to the app "${app}"`,
              instance.name,
              NOT_READY,
            );
          });
          await store.transact((tx) =>
            tx.updateBinding(binding.id, { vars: Object.fromEntries(answered), unitHosts: notified }),
          );
          return await work(binding, answered);
        } catch (error) {
          if (mayBeThere) await orphans.undoBinding(binding.id, { isOver: isAnswered });
          else await store.transact((tx) => tx.deleteBinding(binding.id));
          throw error;
        }
      });
    },
  };
}

/** In the transaction that gives the app the variables. Throws `app.busy` when somebody has undone the binding meanwhile. */
export async function commitBinding(
  tx: StoreWriter,
  { id, app }: Pick<Binding, 'id' | 'app'>,
  vars: Readonly<Record<string, string>>,
): Promise<void> {
  if ((await tx.binding(id))?.state !== 'binding') {
    throw new PlatformError('app.busy', `The binding of ${app} was undone before it was finished.`, {
      hint: 'Try again.',
    });
  }
  await tx.updateBinding(id, { state: 'bound', vars });
}

function notReady(instance: Instance | null): PlatformError {
  if (instance === null || instance.state === 'removing') {
    return new PlatformError('instance.not_found', 'service instance not found');
  }
  return new PlatformError('instance.not_ready', NOT_READY, { hint: 'Try again in a while.' });
}
