/** What a service (catalog entry), an instance of one and a binding of an app to an instance are. Rules only. */
import { PlatformError } from '../errors.ts';
import type { EndpointKind } from './service-endpoint.ts';

/** An entry of the catalog, made from a manifest. */
export interface Service {
  readonly name: string;
  readonly kind: EndpointKind;
  /** Where its provider is: http or https, without a trailing slash. */
  readonly url: string;
  readonly username: string;
  /** May be ''. */
  readonly password: string;
  /** Teams whose members may change and remove it; sorted. */
  readonly ownerTeams: readonly string[];
  /** Teams that were granted its use, which matters when it is restricted; sorted. */
  readonly teams: readonly string[];
  /** True: only its owners and the teams that were granted access may use it. */
  readonly isRestricted: boolean;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** Without what is sealed: nothing is decrypted for it. */
export type ServiceSummary = Omit<Service, 'password'>;

/**
 * creating -> ready -> removing -> gone. Whatever was begun and is not known to have failed is undone through `removing`.
 */
export type InstanceState = 'creating' | 'ready' | 'removing';

export interface Instance {
  /** A UUID that is never used again. */
  readonly id: string;
  /** Unique over all services. */
  readonly name: string;
  readonly service: string;
  readonly teamOwner: string;
  /** Every team with access, the owner included; sorted. */
  readonly teams: readonly string[];
  /** E-mail of the creator. */
  readonly user: string;
  readonly plan: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** For the provider; sealed at rest. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly state: InstanceState;
  readonly createdAt: string;
  readonly attempts: number;
  /** Why the last attempt to undo it failed; '' when there was none. */
  readonly problem: string;
}

/** Without what is sealed: nothing is decrypted for it. */
export type InstanceSummary = Omit<Instance, 'parameters'>;

/**
 * binding -> bound -> unbinding -> gone. `bound` and the app's environment change in one transaction, the one that makes the
 * units with the new variables serve; so does the way back. Whatever is `binding` or `unbinding` and at rest is only the
 * provider's to undo.
 */
export type BindingState = 'binding' | 'bound' | 'unbinding';

/** Name that the app sees -> name that the provider gives. */
export type VariableNames = Readonly<Record<string, string>>;

/** `file`: the app's file says so, and its next deploy may say otherwise. */
export interface BoundNames {
  readonly from: 'set' | 'file';
  readonly names: VariableNames;
}

export const GIVEN_NAMES: BoundNames = { from: 'file', names: {} };

export interface Binding {
  /** A UUID. */
  readonly id: string;
  /** Id of the instance. */
  readonly instance: string;
  readonly app: string;
  readonly state: BindingState;
  /** The app's name for providers, which stays the same when addresses are swapped. */
  readonly appHost: string;
  readonly user: string;
  /** What the provider answered, sealed at rest; kept until the provider has confirmed the end, so that none of its words show them. */
  readonly vars: Readonly<Record<string, string>>;
  /** How the app calls some of them, in place of the provider's names. */
  readonly names: BoundNames;
  /** Addresses of units that the provider has been notified of, or with a + in front may have been; sorted. */
  readonly unitHosts: readonly string[];
  readonly createdAt: string;
  readonly attempts: number;
  readonly problem: string;
}

/** Without what is sealed: nothing is decrypted for it. */
export type BindingSummary = Omit<Binding, 'vars'>;

/** Each notification is recorded before it is sent: whatever happens then, it is sent again or taken back. */
export const UNCONFIRMED = '+';

/** The addresses among unitHosts that the provider may know. */
export function notifiedHosts({ unitHosts }: Pick<Binding, 'unitHosts'>): string[] {
  return unitHosts.map((host) => (host.startsWith(UNCONFIRMED) ? host.slice(UNCONFIRMED.length) : host));
}

const SERVICE_NAME = /^[A-Za-z0-9][-\w.]{0,62}$/;
const INSTANCE_NAME = /^[A-Za-z][-\w]{1,62}$/;
/** Providers list their plans at the path that an instance of this name would have. */
const PLANS = 'plans';
/** Paths of the API begin with these: `/services/instances`, `/services/proxy`. */
const RESERVED_SERVICES: ReadonlySet<string> = new Set(['instances', 'proxy']);

export function isServiceName(name: string): boolean {
  return SERVICE_NAME.test(name) && !RESERVED_SERVICES.has(name);
}

export function checkInstanceName(name: unknown): string {
  if (typeof name === 'string' && INSTANCE_NAME.test(name) && name !== PLANS) return name;
  throw new PlatformError('instance.invalid_name', 'invalid service instance name', {
    hint: `A name has 2 to 63 letters, digits, dashes and underscores, begins with a letter, and is not the reserved "${PLANS}".`,
  });
}
