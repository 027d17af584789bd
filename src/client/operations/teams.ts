/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface TeamsTypes {
  /** Create a team; the caller is its first member. */
  'teams.create': { readonly body: { readonly name?: string | null | undefined }; readonly answer: void };
  /** Show a team and its members. */
  'teams.info': {
    readonly params: { readonly team: string };
    readonly answer: { readonly name: string; readonly users: readonly string[] };
  };
  /** List the caller's teams; an admin sees all. */
  'teams.list': { readonly answer: readonly { readonly name: string }[] };
  /** Add a user to a team. */
  'teams.member_add': { readonly params: { readonly team: string; readonly user: string }; readonly answer: void };
  /** Remove a user from a team. */
  'teams.member_remove': { readonly params: { readonly team: string; readonly user: string }; readonly answer: void };
  /** Remove a team that has no apps. */
  'teams.remove': { readonly params: { readonly team: string }; readonly answer: void };
}

export const TEAMS_CALLS = {
  'teams.create': { method: 'POST', path: '/teams', body: 'application/json', answer: 'none' },
  'teams.info': { method: 'GET', path: '/teams/{team}', answer: 'json' },
  'teams.list': { method: 'GET', path: '/teams', answer: 'list' },
  'teams.member_add': { method: 'PUT', path: '/teams/{team}/{user}', answer: 'none' },
  'teams.member_remove': { method: 'DELETE', path: '/teams/{team}/{user}', answer: 'none' },
  'teams.remove': { method: 'DELETE', path: '/teams/{team}', answer: 'none' },
} as const;
