/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface ServerTypes {
  /** Show how full the disk of the platform is, and who holds what of it; for admins. */
  'server.disk': {
    readonly answer: {
      readonly free_bytes: number;
      readonly total_bytes: number;
      readonly free_files: number;
      readonly total_files: number;
      readonly reserve_bytes: number;
      readonly holders: readonly {
        readonly kind: string;
        readonly app: string;
        readonly name: string;
        readonly bytes: number;
      }[];
    };
  };
}

export const SERVER_CALLS = {
  'server.disk': { method: 'GET', path: '/disk', answer: 'json' },
} as const;
