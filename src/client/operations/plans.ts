/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface PlansTypes {
  /** List the plans: on this platform one, which every app has. */
  'plans.list': {
    readonly answer: readonly {
      readonly name: string;
      readonly memory: number;
      readonly swap: number;
      readonly cpushare: number;
      readonly default: boolean;
    }[];
  };
}

export const PLANS_CALLS = {
  'plans.list': { method: 'GET', path: '/plans', answer: 'list' },
} as const;
