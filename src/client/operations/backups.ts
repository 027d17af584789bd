/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface BackupsTypes {
  /** Show which backups of the platform there are, and how the last one went; for admins. */
  'backups.list': {
    readonly answer: {
      readonly directory: string;
      readonly every_seconds: number;
      readonly keep: number;
      readonly tried_at: string;
      readonly succeeded_at: string;
      readonly problem: string;
      readonly next_at: string;
      readonly backups: readonly {
        readonly name: string;
        readonly made_at: string;
        readonly bytes: number;
        readonly version: string;
      }[];
    };
  };
  /** Make a backup of the platform now; for admins. */
  'backups.make': { readonly answer: void };
}

export const BACKUPS_CALLS = {
  'backups.list': { method: 'GET', path: '/backups', answer: 'json' },
  'backups.make': { method: 'POST', path: '/backups', answer: 'lines' },
} as const;
