/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface HealersTypes {
  /** List the healers with the addresses that execute them. */
  'healers.list': { readonly answer: readonly Readonly<Record<string, string>>[] };
  /** What healers did lately, newest first, at most 200; for admins. */
  'healers.recent': {
    readonly query: { readonly filter?: string | number | boolean | undefined };
    readonly answer: readonly {
      readonly ID: string;
      readonly StartTime: string;
      readonly EndTime: string;
      readonly Action: string;
      readonly FailingContainer: { readonly ID: string };
      readonly CreatedContainer: { readonly ID: string };
      readonly Successful: boolean;
      readonly Error: string;
      readonly Reason: string;
    }[];
  };
  /** Execute a healer; answers what it found, about the apps of the caller, and what it did about it. */
  'healers.run': {
    readonly params: { readonly healer: string };
    readonly answer: {
      readonly healer: string;
      readonly started_at: string;
      readonly finished_at: string;
      readonly found: readonly {
        readonly target: string;
        readonly problem: string;
        readonly outcome: string;
        readonly action: string;
      }[];
      readonly answer: string | null;
    };
  };
  /** Execute a healer; answers what it found, about the apps of the caller, and what it did about it. */
  'healers.run-post': {
    readonly params: { readonly healer: string };
    readonly answer: {
      readonly healer: string;
      readonly started_at: string;
      readonly finished_at: string;
      readonly found: readonly {
        readonly target: string;
        readonly problem: string;
        readonly outcome: string;
        readonly action: string;
      }[];
      readonly answer: string | null;
    };
  };
}

export const HEALERS_CALLS = {
  'healers.list': { method: 'GET', path: '/healers', answer: 'list' },
  'healers.recent': { method: 'GET', path: '/docker/healing', answer: 'list' },
  'healers.run': { method: 'GET', path: '/healers/{healer}', answer: 'json' },
  'healers.run-post': { method: 'POST', path: '/healers/{healer}', answer: 'json' },
} as const;
