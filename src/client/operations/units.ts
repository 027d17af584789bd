/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface UnitsTypes {
  /** Add units of a process; those that are there are not touched. */
  'units.add': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly units?: string | number | boolean | undefined;
      readonly process?: string | number | boolean | undefined;
    };
    readonly body: string;
    readonly answer: void;
  };
  /** Remove units of a process; those that stay are not touched. */
  'units.remove': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly units?: string | number | boolean | undefined;
      readonly process?: string | number | boolean | undefined;
    };
    readonly body: string;
    readonly answer: void;
  };
}

export const UNITS_CALLS = {
  'units.add': { method: 'PUT', path: '/apps/{app}/units', body: 'text/plain', answer: 'lines' },
  'units.remove': { method: 'DELETE', path: '/apps/{app}/units', body: 'text/plain', answer: 'lines' },
} as const;
