/** How the edge treats the requests to an app. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface EdgeClient {
  show(app: string): Promise<shapes.EdgeSettings>;
  /** What is absent stays as it is, null is as without a setting; resolves with what is in effect then. */
  set(app: string, change: shapes.EdgeChange): Promise<shapes.EdgeSettings>;
}

export function edgeClient({ request }: Requests): EdgeClient {
  return {
    show: (app) => request('edge.show', { params: { app } }),
    set: (app, body) => request('edge.set', { params: { app }, body }),
  };
}
