import { type Action, may } from '../access.ts';
import type { Caller } from '../caller.ts';
import { callerNow, type CallerStore } from '../caller-now.ts';
import type { AppReader } from './app-store.ts';
import type { App } from './app.ts';

/** For what goes on for long: whether its caller still may do it, and the app is the one it began with. `at`: ISO 8601 UTC. */
export async function mayStill(
  store: CallerStore & Pick<AppReader, 'app'>,
  caller: Caller,
  action: Action,
  app: App,
  at: string,
): Promise<boolean> {
  const current = await store.app(app.name);
  // Another app of the same name may belong to others.
  if (current === null || current.removing || current.createdAt !== app.createdAt) return false;
  return may(await callerNow(store, caller, at), action, { app: current });
}
