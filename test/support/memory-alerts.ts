/** Alerts for tests of the API alone: rules can be changed, and nothing is ever wrong. */
import { demand } from '../../src/domain/access.ts';
import { changedAlerts, DEFAULT_ALERTS } from '../../src/domain/alerts/alert.ts';
import type { Alerts } from '../../src/domain/alerts/alerts.ts';

export function alertsIn(): Alerts {
  let settings = DEFAULT_ALERTS;
  return {
    async show(caller) {
      demand(caller, 'alert.show');
      return { settings, alerts: [] };
    },
    async change(caller, change) {
      demand(caller, 'alert.update');
      settings = changedAlerts(settings, change);
      return { settings, alerts: [] };
    },
    async test(caller) {
      demand(caller, 'alert.test');
      return { mailed: settings.mail, webhooks: 0 };
    },
  };
}
