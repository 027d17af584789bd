/** Every mutation from every door goes through act(): access, lease, the work itself, the event. */
import type { Audit } from './audit/audit.ts';
import { type Action, demand, type Subject } from './access.ts';
import { type Caller, callerName } from './caller.ts';
import { callerNow } from './caller-now.ts';
import type { Leases } from './leases.ts';
import type { Store } from './store.ts';

export interface ActOptions {
  /** e.g. `app:shop`. */
  readonly target: string;
  /** Key of the lease to hold meanwhile, or several. Absent: none. */
  readonly lease?: string | readonly string[];
  /** For the event; free of secrets. */
  readonly detail?: string;
}

export type Act = <T>(
  caller: Caller,
  action: Action,
  subject: Subject,
  options: ActOptions,
  work: () => Promise<T>,
) => Promise<T>;

const LEASE_WAIT_MS = 30_000;

export function createAct(deps: {
  readonly store: Store;
  readonly leases: Leases;
  readonly audit: Audit;
  /** What is thrown in place of what the work has thrown. */
  readonly explained: (thrown: unknown) => Promise<unknown>;
  readonly now: () => Date;
}): Act {
  const { store, leases, audit, explained, now } = deps;

  return async (caller, action, subject, options, work) => {
    const { target, detail = '' } = options;
    const attempt = { caller, action, target, detail };
    try {
      demand(caller, action, subject);
    } catch (error) {
      audit.refused(attempt, error);
      throw error;
    }
    const holder = `${action} by ${callerName(caller)}`;
    const keys = [options.lease ?? []].flat();
    return audit.record(attempt, async () => {
      try {
        return await leases.holdAll(keys, { waitMs: LEASE_WAIT_MS, holder }, async () => {
          if (keys.length > 0) await demandStill({ store, now }, caller, action, subject);
          return work();
        });
      } catch (thrown) {
        throw await explained(thrown);
      }
    });
  };
}

/** Whoever waits for a turn may have lost the right meanwhile, or the name may have become that of another app. */
export async function demandStill(
  { store, now }: { readonly store: Store; readonly now: () => Date },
  caller: Caller,
  action: Action,
  subject: Subject,
): Promise<void> {
  const { app, instance } = subject;
  const current: Subject = {
    ...subject,
    ...(app !== undefined && { app: (await store.app(app.name)) ?? app }),
    ...(instance !== undefined && { instance: (await store.instance(instance.name)) ?? instance }),
  };
  demand(await callerNow(store, caller, now().toISOString()), action, current);
}
