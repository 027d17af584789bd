/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface EventsTypes {
  /** Show one event. */
  'events.info': {
    readonly params: { readonly event: string };
    readonly answer: {
      readonly UniqueID: string;
      readonly StartTime: string;
      readonly EndTime: string;
      readonly Target: { readonly Type: string; readonly Value: string };
      readonly Kind: { readonly Type: string; readonly Name: string };
      readonly Owner: { readonly Type: string; readonly Name: string };
      readonly SourceIP: string;
      readonly Error: string;
      readonly Log: string;
      readonly Running: boolean;
      readonly Cancelable: boolean;
      readonly Refused: boolean;
      readonly Token: string;
      readonly Duration: number;
      readonly Deploy: string;
      readonly Changes: readonly {
        readonly Field: string;
        readonly Before: string | null;
        readonly After: string | null;
      }[];
    };
  };
  /** List who did what, and who was refused what, newest first, at most 100 at once. */
  'events.list': {
    readonly query: {
      readonly 'target.type'?: string | number | boolean | undefined;
      readonly 'target.value'?: string | number | boolean | undefined;
      readonly kindname?: string | number | boolean | undefined;
      readonly ownername?: string | number | boolean | undefined;
      readonly erroronly?: string | number | boolean | undefined;
      readonly since?: string | number | boolean | undefined;
      readonly until?: string | number | boolean | undefined;
      readonly limit?: string | number | boolean | undefined;
      readonly skip?: string | number | boolean | undefined;
    };
    readonly answer: readonly {
      readonly UniqueID: string;
      readonly StartTime: string;
      readonly EndTime: string;
      readonly Target: { readonly Type: string; readonly Value: string };
      readonly Kind: { readonly Type: string; readonly Name: string };
      readonly Owner: { readonly Type: string; readonly Name: string };
      readonly SourceIP: string;
      readonly Error: string;
      readonly Log: string;
      readonly Running: boolean;
      readonly Cancelable: boolean;
      readonly Refused: boolean;
      readonly Token: string;
      readonly Duration: number;
      readonly Deploy: string;
      readonly Changes: readonly {
        readonly Field: string;
        readonly Before: string | null;
        readonly After: string | null;
      }[];
    }[];
  };
  /** Show rows of the audit log as the leaves of a hash tree, with what the log has signed, at most 1,000 at once; for admins. */
  'events.log': {
    readonly query: {
      readonly from?: string | number | boolean | undefined;
      readonly limit?: string | number | boolean | undefined;
    };
    readonly answer: {
      readonly rows: readonly {
        readonly index: number;
        readonly leaf: string;
        readonly salt: string;
        readonly content: string | null;
      }[];
      readonly checkpoints: readonly string[];
      readonly size: number;
      readonly checkpoint: string;
      readonly key: string;
    };
  };
}

export const EVENTS_CALLS = {
  'events.info': { method: 'GET', path: '/events/{event}', answer: 'json' },
  'events.list': { method: 'GET', path: '/events', answer: 'list' },
  'events.log': { method: 'GET', path: '/events/log', answer: 'json' },
} as const;
