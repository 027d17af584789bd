/** Drains: where the lines of an app, or of all apps, are sent on to. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface DrainsClient {
  /** Without an app, all that the caller may see. */
  list(app?: string): Promise<readonly shapes.DrainShape[]>;
  info(drain: string): Promise<shapes.DrainShape>;
  /** Without an app, of the lines of all apps. */
  add(drain: shapes.NewDrain): Promise<shapes.DrainShape>;
  /** Sends one line; resolves with what the receiver answers, also when it refuses. */
  test(drain: string): Promise<shapes.DrainTest>;
  update(drain: string, change: Omit<shapes.NewDrain, 'app'>): Promise<shapes.DrainShape>;
  remove(drain: string): Promise<void>;
}

export function drainsClient({ request }: Requests): DrainsClient {
  return {
    list: (app) => request('drains.list', { query: { app } }),
    info: (drain) => request('drains.info', { params: { drain } }),
    add: (body) => request('drains.add', { body }),
    test: (drain) => request('drains.test', { params: { drain } }),
    update: (drain, body) => request('drains.update', { params: { drain }, body }),
    remove: (drain) => request('drains.remove', { params: { drain } }),
  };
}
