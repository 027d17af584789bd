/** Releases of apps: numbered snapshots of everything that decides what runs. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface ReleasesClient {
  /** Newest first. */
  list(app: string): Promise<readonly shapes.ReleaseShape[]>;
  /** `to` absent: the one that serves; `from` absent: the one before. */
  compare(app: string, query?: { readonly from?: string; readonly to?: string }): Promise<shapes.ReleaseComparison>;
}

export function releasesClient({ request }: Requests): ReleasesClient {
  return {
    list: (app) => request('releases.list', { params: { app } }),
    compare: (app, query = {}) => request('releases.compare', { params: { app }, query: { ...query } }),
  };
}
