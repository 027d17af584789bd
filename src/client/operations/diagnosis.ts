/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface DiagnosisTypes {
  /** Say why nothing answers at an address, whichever app it belongs to. */
  'diagnosis.address': {
    readonly query: { readonly address: string | number | boolean | undefined };
    readonly answer: {
      readonly app: string;
      readonly host: string;
      readonly url: string;
      readonly well: boolean;
      readonly answers: boolean;
      readonly broken: {
        readonly link: string;
        readonly cause: string;
        readonly command: string;
        readonly lines: readonly string[];
      };
      readonly links: readonly { readonly link: string; readonly asks: string; readonly state: string }[];
      readonly notes: readonly string[];
    };
  };
}

export const DIAGNOSIS_CALLS = {
  'diagnosis.address': { method: 'GET', path: '/diagnosis', answer: 'json' },
} as const;
