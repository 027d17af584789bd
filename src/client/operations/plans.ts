/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface PlansTypes {
  /** Create a plan. */
  'plans.create': {
    readonly body: {
      readonly name?: string | null | undefined;
      readonly memory?: string | number | null | undefined;
      readonly swap?: string | number | null | undefined;
      readonly cpushare?: string | number | null | undefined;
      readonly cpumilli?: string | number | null | undefined;
      readonly disk?: string | number | null | undefined;
      readonly default?: string | boolean | null | undefined;
    };
    readonly answer: void;
  };
  /** List the plans: what each unit of an app may use. */
  'plans.list': {
    readonly answer: readonly {
      readonly name: string;
      readonly memory: number;
      readonly swap: number;
      readonly cpushare: number;
      readonly cpumilli: number;
      readonly disk: number;
      readonly default: boolean;
    }[];
  };
  /** Remove a plan that no app has. */
  'plans.remove': { readonly params: { readonly plan: string }; readonly answer: void };
  /** List the routers: what brings requests to units. */
  'plans.routers': { readonly answer: readonly { readonly name: string; readonly type: string }[] };
}

export const PLANS_CALLS = {
  'plans.create': { method: 'POST', path: '/plans', body: 'application/json', answer: 'none' },
  'plans.list': { method: 'GET', path: '/plans', answer: 'list' },
  'plans.remove': { method: 'DELETE', path: '/plans/{plan}', answer: 'none' },
  'plans.routers': { method: 'GET', path: '/plans/routers', answer: 'list' },
} as const;
