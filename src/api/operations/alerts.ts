/** Alerts of the platform's own: what is going on, what is looked for, and who is notified. Beyond the specification. */
import { json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';

const rule = Type.Object({
  on: Type.Optional(Type.Boolean()),
  minutes: Type.Optional(Type.Integer()),
  threshold: Type.Optional(Type.Integer()),
});
/** Judged by the domain, in its words. */
const body = Type.Object({
  rules: Type.Optional(Type.Record(Type.String(), rule)),
  mail: Type.Optional(Type.Array(Type.String())),
});

export const alertOperations: readonly Operation[] = [
  json({
    id: 'alerts.show',
    section: null,
    summary: 'Show which alerts are going on or were, the rules that they come from, and who gets letters.',
    method: 'GET',
    path: '/alerts',
    access: 'user',
    shape: 'alerts',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.alerts.show(caller),
  }),
  json({
    id: 'alerts.set',
    section: null,
    summary: 'Change rules of alerts, or who gets letters; what is absent stays as it is.',
    method: 'PUT',
    path: '/alerts',
    access: 'user',
    body,
    shape: 'alerts',
    errors: ['access.denied', 'input.invalid', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body: { rules = {}, mail } }) =>
      useCases.alerts.change(caller, { rules: rulesOf(rules), ...(mail !== undefined && { mail }) }),
  }),
  json({
    id: 'alerts.test',
    section: null,
    summary: 'Send what an alert would, and say to whom.',
    method: 'POST',
    path: '/alerts/test',
    access: 'user',
    shape: 'alertTest',
    errors: ['access.denied', 'alert.no_recipient', 'unavailable', 'timeout'],
    handle: ({ useCases, caller }) => useCases.alerts.test(caller),
  }),
];

interface GivenRule {
  readonly on?: boolean;
  readonly minutes?: number;
  readonly threshold?: number;
}

function rulesOf(given: Readonly<Record<string, GivenRule>>) {
  return Object.fromEntries(
    Object.entries(given).map(([name, { on, ...rest }]) => [name, { ...rest, ...(on !== undefined && { isOn: on }) }]),
  );
}
