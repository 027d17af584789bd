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
    }[];
  };
}

export const EVENTS_CALLS = {
  'events.info': { method: 'GET', path: '/events/{event}', answer: 'json' },
  'events.list': { method: 'GET', path: '/events', answer: 'list' },
} as const;
