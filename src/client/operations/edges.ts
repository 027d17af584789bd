/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface EdgesTypes {
  /** Follow this server as an edge, by a token of edges: a websocket over which it learns what it serves by. */
  'edges.follow': {
    readonly query: {
      readonly name?: string | number | boolean | undefined;
      readonly instance?: string | number | boolean | undefined;
      readonly program?: string | number | boolean | undefined;
    };
    readonly answer: void;
  };
  /** List the edges on other machines, with the server that each follows; for admins. */
  'edges.list': {
    readonly answer: readonly {
      readonly Name: string;
      readonly State: string;
      readonly Address: string;
      readonly Version: string;
      readonly Server: string;
      readonly Since: string;
      readonly LostAt: string;
      readonly Table: number;
    }[];
  };
}

export const EDGES_CALLS = {
  'edges.follow': { method: 'GET', path: '/edges/follow', answer: 'none' },
  'edges.list': { method: 'GET', path: '/edges', answer: 'list' },
} as const;
