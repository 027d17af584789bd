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
  /** Show how the platform itself is: versions, processes with their memory, the machine, the disk, unfinished deploys; for admins. */
  'server.health': {
    readonly answer: {
      readonly programs: readonly { readonly name: string; readonly version: string }[];
      readonly processes: readonly {
        readonly part: string;
        readonly pid: number;
        readonly memory_bytes: number;
        readonly cpu_ms: number;
        readonly started_at: string;
      }[];
      readonly machine: {
        readonly memory_total_bytes: number;
        readonly memory_available_bytes: number;
        readonly processors: number;
        readonly load: readonly number[];
      };
      readonly disk: { readonly free_bytes: number; readonly total_bytes: number; readonly reserve_bytes: number };
      readonly deploys: readonly { readonly state: string; readonly count: number }[];
      readonly build_slots: number;
    };
  };
}

export const SERVER_CALLS = {
  'server.disk': { method: 'GET', path: '/disk', answer: 'json' },
  'server.health': { method: 'GET', path: '/health', answer: 'json' },
} as const;
