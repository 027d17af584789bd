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
  /** Ask which units are there. */
  'units.known': {
    readonly body: readonly { readonly ID: string; readonly Name: string; readonly Status: string }[];
    readonly answer: readonly { readonly ID: string; readonly Found: boolean }[];
  };
  /** Tell that a unit runs, and get its environment. */
  'units.register': {
    readonly params: { readonly app: string };
    readonly query: {
      readonly hostname?: string | number | boolean | undefined;
      readonly customdata?: string | number | boolean | undefined;
    };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: readonly {
      readonly name: string;
      readonly value: string;
      readonly public: boolean;
      readonly managedBy?: string;
    }[];
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
  /** Report the state of a unit. */
  'units.report': {
    readonly params: { readonly app: string; readonly unit: string };
    readonly query: { readonly status?: string | number | boolean | undefined };
    readonly body: Readonly<Record<string, string>>;
    readonly answer: void;
  };
  /** Set the number of units of a process, 0 included; before the first deploy it takes effect with that. */
  'units.set': {
    readonly params: { readonly app: string; readonly process: string };
    readonly query: { readonly units?: string | number | boolean | undefined };
    readonly body: string;
    readonly answer: void;
  };
}

export const UNITS_CALLS = {
  'units.add': { method: 'PUT', path: '/apps/{app}/units', body: 'text/plain', answer: 'lines' },
  'units.known': { method: 'POST', path: '/units/status', body: 'application/json', answer: 'list' },
  'units.register': { method: 'POST', path: '/apps/{app}/units/register', body: 'application/json', answer: 'list' },
  'units.remove': { method: 'DELETE', path: '/apps/{app}/units', body: 'text/plain', answer: 'lines' },
  'units.report': { method: 'POST', path: '/apps/{app}/units/{unit}', body: 'application/json', answer: 'none' },
  'units.set': { method: 'PUT', path: '/apps/{app}/processes/{process}/units', body: 'text/plain', answer: 'lines' },
} as const;
