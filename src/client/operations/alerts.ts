/** Made from the OpenAPI document: UPDATE_GOLDEN=1 vitest run src/client writes it. Not for changes by hand. */
export interface AlertsTypes {
  /** Change rules of alerts, or who gets letters; what is absent stays as it is. */
  'alerts.set': {
    readonly body: {
      readonly rules?:
        | Readonly<
            Record<
              string,
              {
                readonly on?: boolean | undefined;
                readonly minutes?: number | undefined;
                readonly threshold?: number | undefined;
              }
            >
          >
        | undefined;
      readonly mail?: readonly string[] | undefined;
    };
    readonly answer: {
      readonly rules: readonly {
        readonly name: string;
        readonly about: string;
        readonly on: boolean;
        readonly minutes: number;
        readonly threshold: number;
        readonly unit: string;
      }[];
      readonly mail: readonly string[];
      readonly alerts: readonly {
        readonly rule: string;
        readonly subject: string;
        readonly state: string;
        readonly message: string;
        readonly since: string;
        readonly fired_at: string;
        readonly resolved_at: string;
      }[];
    };
  };
  /** Show which alerts are going on or were, the rules that they come from, and who gets letters. */
  'alerts.show': {
    readonly answer: {
      readonly rules: readonly {
        readonly name: string;
        readonly about: string;
        readonly on: boolean;
        readonly minutes: number;
        readonly threshold: number;
        readonly unit: string;
      }[];
      readonly mail: readonly string[];
      readonly alerts: readonly {
        readonly rule: string;
        readonly subject: string;
        readonly state: string;
        readonly message: string;
        readonly since: string;
        readonly fired_at: string;
        readonly resolved_at: string;
      }[];
    };
  };
  /** Send what an alert would, and say to whom. */
  'alerts.test': { readonly answer: { readonly mailed: readonly string[]; readonly webhooks: number } };
}

export const ALERTS_CALLS = {
  'alerts.set': { method: 'PUT', path: '/alerts', body: 'application/json', answer: 'json' },
  'alerts.show': { method: 'GET', path: '/alerts', answer: 'json' },
  'alerts.test': { method: 'POST', path: '/alerts/test', answer: 'json' },
} as const;
