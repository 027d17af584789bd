/** Webhooks: who is notified of what happens. Beyond the specification. */
import { PlatformError } from '../../domain/errors.ts';
import type { WebhookInput } from '../../domain/webhooks/webhooks.ts';
import { empty, json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText } from './fields.ts';

const params = Type.Object({ webhook: Type.String() });
const one = ['webhook.not_found', 'access.denied'] as const;
const owners = ['app.not_found', 'team.not_found', 'user.not_found'] as const;
const body = Type.Object({
  url: optionalText,
  app: optionalText,
  team: optionalText,
  user: optionalText,
  /** Absent or empty: all. */
  events: Type.Optional(Type.Array(Type.String())),
});

export const webhookOperations: readonly Operation[] = [
  json({
    id: 'webhooks.list',
    section: null,
    summary: 'List the webhooks you may see, with what became of the last message to each.',
    method: 'GET',
    path: '/webhooks',
    access: 'user',
    shape: 'webhooks',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.webhooks.list(caller),
  }),
  json({
    id: 'webhooks.add',
    section: null,
    summary:
      "Have what happens to an app, a team's or a user's apps reported to an address; without any of them, what happens on the platform.",
    method: 'POST',
    path: '/webhooks',
    access: 'user',
    body,
    shape: 'webhookAdded',
    errors: [
      ...['access.denied', 'webhook.invalid', 'quota.exceeded', 'app.busy', 'input.invalid', 'input.invalid_json'],
      ...owners,
    ] as const,
    handle: ({ useCases, caller }, { body: given }) =>
      useCases.webhooks.add(caller, { ...ownerOf(given), url: given.url ?? '', kinds: given.events ?? [] }),
  }),
  json({
    id: 'webhooks.info',
    section: null,
    summary: 'Show a webhook.',
    method: 'GET',
    path: '/webhooks/:webhook',
    access: 'user',
    params,
    shape: 'webhook',
    errors: one,
    handle: ({ useCases, caller }, { params: { webhook } }) => useCases.webhooks.info(caller, webhook),
  }),
  empty({
    id: 'webhooks.remove',
    section: null,
    summary: 'Remove a webhook with all its deliveries; what waits is not sent any more.',
    method: 'DELETE',
    path: '/webhooks/:webhook',
    access: 'user',
    params,
    errors: one,
    handle: ({ useCases, caller }, { params: { webhook } }) => useCases.webhooks.remove(caller, webhook),
  }),
  json({
    id: 'webhooks.test',
    section: null,
    summary: 'Send one message to the receiver of a webhook, and say what it answers.',
    method: 'POST',
    path: '/webhooks/:webhook/test',
    access: 'user',
    params,
    shape: 'webhookDelivery',
    errors: one,
    handle: ({ useCases, caller }, { params: { webhook } }) => useCases.webhooks.test(caller, webhook),
  }),
  json({
    id: 'webhooks.deliveries',
    section: null,
    summary: 'List the messages to the receiver of a webhook with its answers, newest first, at most 100.',
    method: 'GET',
    path: '/webhooks/:webhook/deliveries',
    access: 'user',
    params,
    shape: 'webhookDeliveries',
    errors: one,
    handle: ({ useCases, caller }, { params: { webhook } }) => useCases.webhooks.deliveries(caller, webhook),
  }),
  json({
    id: 'webhooks.resend',
    section: null,
    summary: 'Send one message again as it was, soon, with the same ID.',
    method: 'POST',
    path: '/webhooks/:webhook/deliveries/:delivery/resend',
    access: 'user',
    params: Type.Object({ webhook: Type.String(), delivery: Type.String() }),
    shape: 'webhookDelivery',
    errors: one,
    handle: ({ useCases, caller }, { params: { webhook, delivery } }) =>
      useCases.webhooks.resend(caller, webhook, delivery),
  }),
];

type Owners = Readonly<Partial<Record<'app' | 'team' | 'user', string | null>>>;

function ownerOf({ app, team, user }: Owners): Pick<WebhookInput, 'scope' | 'owner'> {
  const given = (
    [
      ['app', app],
      ['team', team],
      ['user', user],
    ] as const
  ).flatMap(([scope, owner]) => (owner ? [{ scope, owner }] : []));
  if (given.length > 1) {
    throw new PlatformError('input.invalid', 'A webhook is about one app, team or user.', {
      hint: 'Give one of app, team and user; none of them for the platform.',
    });
  }
  return given[0] ?? { scope: 'platform', owner: '' };
}
