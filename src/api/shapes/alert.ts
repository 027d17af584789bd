import { ALERT_RULES, type Alert, RULE_WORDS } from '../../domain/alerts/alert.ts';
import type { AlertsView, AlertTest } from '../../domain/alerts/alerts.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const rule = Type.Object({
  name: Type.String(),
  /** What is looked for; the threshold is counted in `unit`. */
  about: Type.String(),
  on: Type.Boolean(),
  /** It has to last so long before anybody is notified, and to be over for so long. */
  minutes: Type.Integer(),
  threshold: Type.Integer(),
  unit: Type.String(),
});

const fields = Type.Object({
  rule: Type.String(),
  /** Name of the app, host name of the certificate; empty for the server. */
  subject: Type.String(),
  /** pending, firing or resolved. */
  state: Type.String(),
  message: Type.String(),
  since: Type.String(),
  fired_at: Type.String(),
  resolved_at: Type.String(),
});

const toWire = ({ firedAt, resolvedAt, ...alert }: Alert) => ({ ...alert, fired_at: firedAt, resolved_at: resolvedAt });

export const alerts = shape(
  Type.Object({ rules: Type.Array(rule), mail: Type.Array(Type.String()), alerts: Type.Array(fields) }),
  ({ settings: { rules, mail }, alerts: all }: AlertsView) => ({
    rules: ALERT_RULES.map((name) => {
      const { isOn: on, minutes, threshold } = rules[name];
      return { name, about: RULE_WORDS[name].about, on, minutes, threshold, unit: RULE_WORDS[name].unit };
    }),
    mail: [...mail],
    alerts: all.map(toWire),
  }),
);

export const alertTest = shape(
  Type.Object({ mailed: Type.Array(Type.String()), webhooks: Type.Integer() }),
  ({ mailed, webhooks }: AlertTest) => ({ mailed: [...mailed], webhooks }),
);
