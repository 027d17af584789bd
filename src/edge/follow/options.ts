/** Of an edge that follows servers elsewhere, in place of one on its own machine. */
export interface FollowOptions {
  /** Unique among all edges of the installation. */
  readonly name: string;
  /** Version of the program. */
  readonly program: string;
  /** `http://` or `https://` addresses of APIs, any of which will do. */
  readonly servers: readonly string[];
}

/** Environment variable with the token; nobody else on the machine reads it there. */
export const EDGE_TOKEN = 'TANCHO_EDGE_TOKEN';
