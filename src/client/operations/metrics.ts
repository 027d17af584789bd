/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface MetricsTypes {
  /** Show all apps as they are now, in the text format of Prometheus; for admins. */
  'metrics.prometheus': { readonly answer: string };
}

export const METRICS_CALLS = {
  'metrics.prometheus': { method: 'GET', path: '/metrics', answer: 'text' },
} as const;
