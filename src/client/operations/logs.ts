/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface LogsTypes {
  /** Remove the log of an app, or of all. */
  'logs.clear': { readonly query: { readonly app?: string | number | boolean | undefined }; readonly answer: void };
}

export const LOGS_CALLS = {
  'logs.clear': { method: 'DELETE', path: '/logs', answer: 'none' },
} as const;
