/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface CertificatesTypes {
  /** Upload a certificate (PEM, with those that it was issued by) and its key: for the names of an app, or by admins for every name it has. */
  'certificates.add': {
    readonly body: {
      readonly chain?: string | null | undefined;
      readonly key?: string | null | undefined;
      readonly app?: string | null | undefined;
    };
    readonly answer: {
      readonly certificate: {
        readonly id: string;
        readonly names: readonly string[];
        readonly app: string;
        readonly source: string;
        readonly state: string;
        readonly presented: boolean;
        readonly cause: string;
        readonly problem: string;
        readonly nextStep: string;
        readonly failures: number;
        readonly nextAttemptAt: string;
        readonly issuer: string;
        readonly notBefore: string;
        readonly notAfter: string;
        readonly chain: string;
      };
      readonly notes: readonly string[];
    };
  };
  /** Show who issues certificates here, and what people or name servers have to know of it. */
  'certificates.authority': {
    readonly answer: {
      readonly name: string;
      readonly local: boolean;
      readonly root: string;
      readonly fingerprint: string;
      readonly dnsRecord: string;
      readonly dnsValue: string;
    };
  };
  /** List the certificates of the apps you may see, with their state; admins see all. */
  'certificates.list': {
    readonly answer: readonly {
      readonly id: string;
      readonly names: readonly string[];
      readonly app: string;
      readonly source: string;
      readonly state: string;
      readonly presented: boolean;
      readonly cause: string;
      readonly problem: string;
      readonly nextStep: string;
      readonly failures: number;
      readonly nextAttemptAt: string;
      readonly issuer: string;
      readonly notBefore: string;
      readonly notAfter: string;
      readonly chain: string;
    }[];
  };
  /** Remove an uploaded certificate. */
  'certificates.remove': { readonly params: { readonly name: string }; readonly answer: void };
  /** Ask for a certificate now, and say what came of it. */
  'certificates.renew': {
    readonly params: { readonly name: string };
    readonly answer: {
      readonly id: string;
      readonly names: readonly string[];
      readonly app: string;
      readonly source: string;
      readonly state: string;
      readonly presented: boolean;
      readonly cause: string;
      readonly problem: string;
      readonly nextStep: string;
      readonly failures: number;
      readonly nextAttemptAt: string;
      readonly issuer: string;
      readonly notBefore: string;
      readonly notAfter: string;
      readonly chain: string;
    };
  };
  /** Say what is wrong with the certificate of a host name, looking at the name now. */
  'certificates.why': {
    readonly params: { readonly name: string };
    readonly answer: {
      readonly name: string;
      readonly cause: string;
      readonly problem: string;
      readonly nextStep: string;
      readonly certificates: readonly {
        readonly id: string;
        readonly names: readonly string[];
        readonly app: string;
        readonly source: string;
        readonly state: string;
        readonly presented: boolean;
        readonly cause: string;
        readonly problem: string;
        readonly nextStep: string;
        readonly failures: number;
        readonly nextAttemptAt: string;
        readonly issuer: string;
        readonly notBefore: string;
        readonly notAfter: string;
        readonly chain: string;
      }[];
    };
  };
}

export const CERTIFICATES_CALLS = {
  'certificates.add': { method: 'POST', path: '/certificates', body: 'application/json', answer: 'json' },
  'certificates.authority': { method: 'GET', path: '/certificate-authority', answer: 'json' },
  'certificates.list': { method: 'GET', path: '/certificates', answer: 'list' },
  'certificates.remove': { method: 'DELETE', path: '/certificates/{name}', answer: 'none' },
  'certificates.renew': { method: 'POST', path: '/certificates/{name}/renew', answer: 'json' },
  'certificates.why': { method: 'GET', path: '/certificates/{name}', answer: 'json' },
} as const;
