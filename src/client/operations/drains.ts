/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface DrainsTypes {
  /** Send what an app logs from now on to a receiver elsewhere; without an app, what all of them log. */
  'drains.add': {
    readonly body: {
      readonly app?: string | null | undefined;
      readonly url?: string | null | undefined;
      readonly format?: string | null | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    };
    readonly answer: {
      readonly id: string;
      readonly app: string;
      readonly format: string;
      readonly receiver: string;
      readonly headers: readonly string[];
      readonly waiting: number;
      readonly lost: number;
      readonly last_success_at: string;
      readonly last_error_at: string;
      readonly last_error: string;
      readonly failures: number;
      readonly created_by: string;
      readonly created_at: string;
    };
  };
  /** Show a drain, with how far it has sent and what went wrong last. */
  'drains.info': {
    readonly params: { readonly drain: string };
    readonly answer: {
      readonly id: string;
      readonly app: string;
      readonly format: string;
      readonly receiver: string;
      readonly headers: readonly string[];
      readonly waiting: number;
      readonly lost: number;
      readonly last_success_at: string;
      readonly last_error_at: string;
      readonly last_error: string;
      readonly failures: number;
      readonly created_by: string;
      readonly created_at: string;
    };
  };
  /** List the drains you may see, with how far each has sent. */
  'drains.list': {
    readonly query: { readonly app?: string | number | boolean | undefined };
    readonly answer: readonly {
      readonly id: string;
      readonly app: string;
      readonly format: string;
      readonly receiver: string;
      readonly headers: readonly string[];
      readonly waiting: number;
      readonly lost: number;
      readonly last_success_at: string;
      readonly last_error_at: string;
      readonly last_error: string;
      readonly failures: number;
      readonly created_by: string;
      readonly created_at: string;
    }[];
  };
  /** Remove a drain; what it has not sent is not sent any more. */
  'drains.remove': { readonly params: { readonly drain: string }; readonly answer: void };
  /** Send one line to the receiver of a drain, and say what it answers. */
  'drains.test': {
    readonly params: { readonly drain: string };
    readonly answer: { readonly delivered: boolean; readonly answer: string };
  };
  /** Change where a drain sends to; what it has not sent yet goes there. */
  'drains.update': {
    readonly params: { readonly drain: string };
    readonly body: {
      readonly url?: string | null | undefined;
      readonly format?: string | null | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    };
    readonly answer: {
      readonly id: string;
      readonly app: string;
      readonly format: string;
      readonly receiver: string;
      readonly headers: readonly string[];
      readonly waiting: number;
      readonly lost: number;
      readonly last_success_at: string;
      readonly last_error_at: string;
      readonly last_error: string;
      readonly failures: number;
      readonly created_by: string;
      readonly created_at: string;
    };
  };
}

export const DRAINS_CALLS = {
  'drains.add': { method: 'POST', path: '/drains', body: 'application/json', answer: 'json' },
  'drains.info': { method: 'GET', path: '/drains/{drain}', answer: 'json' },
  'drains.list': { method: 'GET', path: '/drains', answer: 'list' },
  'drains.remove': { method: 'DELETE', path: '/drains/{drain}', answer: 'none' },
  'drains.test': { method: 'POST', path: '/drains/{drain}/test', answer: 'json' },
  'drains.update': { method: 'PUT', path: '/drains/{drain}', body: 'application/json', answer: 'json' },
} as const;
