/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface WebhooksTypes {
  /** Have what happens to an app, a team's or a user's apps reported to an address; without any of them, what happens on the platform. */
  'webhooks.add': {
    readonly body: {
      readonly url?: string | null | undefined;
      readonly app?: string | null | undefined;
      readonly team?: string | null | undefined;
      readonly user?: string | null | undefined;
      readonly events?: readonly string[] | undefined;
    };
    readonly answer: {
      readonly id: string;
      readonly scope: string;
      readonly owner: string;
      readonly receiver: string;
      readonly events: readonly string[];
      readonly created_by: string;
      readonly created_at: string;
      readonly secret: string;
    };
  };
  /** List the messages to the receiver of a webhook with its answers, newest first, at most 100. */
  'webhooks.deliveries': {
    readonly params: { readonly webhook: string };
    readonly answer: readonly {
      readonly id: string;
      readonly event: string;
      readonly app: string;
      readonly state: string;
      readonly created_at: string;
      readonly next_attempt_at: string;
      readonly attempts: number;
      readonly last_attempt_at: string;
      readonly status: number;
      readonly answer: string;
      readonly body: string;
    }[];
  };
  /** Show a webhook. */
  'webhooks.info': {
    readonly params: { readonly webhook: string };
    readonly answer: {
      readonly id: string;
      readonly scope: string;
      readonly owner: string;
      readonly receiver: string;
      readonly events: readonly string[];
      readonly created_by: string;
      readonly created_at: string;
      readonly last_state: string;
      readonly last_answer: string;
    };
  };
  /** List the webhooks you may see, with what became of the last message to each. */
  'webhooks.list': {
    readonly answer: readonly {
      readonly id: string;
      readonly scope: string;
      readonly owner: string;
      readonly receiver: string;
      readonly events: readonly string[];
      readonly created_by: string;
      readonly created_at: string;
      readonly last_state: string;
      readonly last_answer: string;
    }[];
  };
  /** Remove a webhook with all its deliveries; what waits is not sent any more. */
  'webhooks.remove': { readonly params: { readonly webhook: string }; readonly answer: void };
  /** Send one message again as it was, soon, with the same ID. */
  'webhooks.resend': {
    readonly params: { readonly webhook: string; readonly delivery: string };
    readonly answer: {
      readonly id: string;
      readonly event: string;
      readonly app: string;
      readonly state: string;
      readonly created_at: string;
      readonly next_attempt_at: string;
      readonly attempts: number;
      readonly last_attempt_at: string;
      readonly status: number;
      readonly answer: string;
      readonly body: string;
    };
  };
  /** Send one message to the receiver of a webhook, and say what it answers. */
  'webhooks.test': {
    readonly params: { readonly webhook: string };
    readonly answer: {
      readonly id: string;
      readonly event: string;
      readonly app: string;
      readonly state: string;
      readonly created_at: string;
      readonly next_attempt_at: string;
      readonly attempts: number;
      readonly last_attempt_at: string;
      readonly status: number;
      readonly answer: string;
      readonly body: string;
    };
  };
}

export const WEBHOOKS_CALLS = {
  'webhooks.add': { method: 'POST', path: '/webhooks', body: 'application/json', answer: 'json' },
  'webhooks.deliveries': { method: 'GET', path: '/webhooks/{webhook}/deliveries', answer: 'list' },
  'webhooks.info': { method: 'GET', path: '/webhooks/{webhook}', answer: 'json' },
  'webhooks.list': { method: 'GET', path: '/webhooks', answer: 'list' },
  'webhooks.remove': { method: 'DELETE', path: '/webhooks/{webhook}', answer: 'none' },
  'webhooks.resend': { method: 'POST', path: '/webhooks/{webhook}/deliveries/{delivery}/resend', answer: 'json' },
  'webhooks.test': { method: 'POST', path: '/webhooks/{webhook}/test', answer: 'json' },
} as const;
