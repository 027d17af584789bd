/** Edges on other machines, and the tokens by which they follow. */
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface EdgesClient {
  list(): Promise<shapes.FollowingEdges>;
  tokens(): Promise<shapes.EdgeTokens>;
  createToken(name: string): Promise<shapes.NewEdgeToken>;
  revokeToken(name: string): Promise<void>;
}

export function edgesClient({ request }: Requests): EdgesClient {
  return {
    list: () => request('edges.list'),
    tokens: () => request('edge_tokens.list'),
    createToken: (name) => request('edge_tokens.create', { body: { name } }),
    revokeToken: (token) => request('edge_tokens.revoke', { params: { token } }),
  };
}
