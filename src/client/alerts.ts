/** Alerts of the platform's own. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface AlertsClient {
  show(): Promise<shapes.AlertsShape>;
  /** Only what is given is changed. */
  set(change: shapes.AlertsChange): Promise<shapes.AlertsShape>;
  /** Sends what an alert would; resolves with to whom. */
  test(): Promise<shapes.AlertTest>;
}

export function alertsClient({ request }: Requests): AlertsClient {
  return {
    show: () => request('alerts.show'),
    set: (body) => request('alerts.set', { body }),
    test: () => request('alerts.test'),
  };
}
