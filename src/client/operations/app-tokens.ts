/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface AppTokensTypes {
  /** Make a token that acts on one app only. */
  'app_tokens.create': {
    readonly body: {
      readonly client?: string | null | undefined;
      readonly appName?: string | null | undefined;
      readonly app?: string | null | undefined;
      readonly export?: boolean | undefined;
    };
    readonly answer: {
      readonly Token: string;
      readonly Creation: string;
      readonly Expires: number;
      readonly AppName: string;
    };
  };
  /** List the tokens of an app, without what they are. */
  'app_tokens.list': {
    readonly params: { readonly app: string };
    readonly answer: readonly {
      readonly Id: string;
      readonly AppName: string;
      readonly CreatedBy: string;
      readonly CreatedAt: string;
      readonly ExpiresAt: string;
    }[];
  };
  /** End all tokens of an app. */
  'app_tokens.revoke': {
    readonly query: { readonly client?: string | number | boolean | undefined };
    readonly answer: void;
  };
  /** End one token of an app. */
  'app_tokens.revoke_one': { readonly params: { readonly app: string; readonly token: string }; readonly answer: void };
}

export const APP_TOKENS_CALLS = {
  'app_tokens.create': { method: 'POST', path: '/tokens', body: 'application/json', answer: 'json' },
  'app_tokens.list': { method: 'GET', path: '/apps/{app}/tokens', answer: 'list' },
  'app_tokens.revoke': { method: 'DELETE', path: '/tokens', answer: 'none' },
  'app_tokens.revoke_one': { method: 'DELETE', path: '/apps/{app}/tokens/{token}', answer: 'none' },
} as const;
