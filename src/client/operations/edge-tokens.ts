/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface EdgeTokensTypes {
  /** Make a token by which edges on other machines follow; it is shown once. For admins. */
  'edge_tokens.create': {
    readonly body: { readonly name?: string | null | undefined };
    readonly answer: {
      readonly Token: string;
      readonly Name: string;
      readonly CreatedBy: string;
      readonly CreatedAt: string;
    };
  };
  /** List the tokens by which edges follow, without what they are; for admins. */
  'edge_tokens.list': {
    readonly answer: readonly { readonly Name: string; readonly CreatedBy: string; readonly CreatedAt: string }[];
  };
  /** End a token: the edges that follow by it follow no more, and serve by what they know. For admins. */
  'edge_tokens.revoke': { readonly params: { readonly token: string }; readonly answer: void };
}

export const EDGE_TOKENS_CALLS = {
  'edge_tokens.create': { method: 'POST', path: '/edges/tokens', body: 'application/json', answer: 'json' },
  'edge_tokens.list': { method: 'GET', path: '/edges/tokens', answer: 'list' },
  'edge_tokens.revoke': { method: 'DELETE', path: '/edges/tokens/{token}', answer: 'none' },
} as const;
