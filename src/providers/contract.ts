/**
 * The contract between the platform and a provider, as the provider sees it (docs/providers.md). Owns the calls, their
 * fields and how a provider says no; knows nothing of HTTP beyond paths and statuses.
 */

/** Every call of the contract. `bindUnit` and `unbindUnit` report single units and are optional to handle. */
export const OPERATIONS = [
  'plans',
  'create',
  'info',
  'status',
  'bind',
  'unbind',
  'bindUnit',
  'unbindUnit',
  'remove',
] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface ProviderPlan {
  readonly name: string;
  readonly description: string;
}

export interface ProviderFact {
  readonly label: string;
  readonly value: string;
}

/** `down` is for an instance that is there and does not work. */
export type ProviderStatus = 'up' | 'pending' | 'down';

export interface ProviderCall {
  /** The same for every attempt at one step, and for no other step; '' from callers that send none. */
  readonly idempotencyKey: string;
  /** Of the instance, for the platform: never used again, as its name may be. '' from callers that send none. */
  readonly instanceId: string;
  /** The same for the binding. */
  readonly bindingId: string;
  /** E-mail of whoever asked; '' when none was sent. */
  readonly user: string;
  /** All fields as they were sent, with those the contract does not name. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

export interface CreateRequest extends ProviderCall {
  readonly instance: string;
  readonly team: string;
  /** '' when none was chosen. */
  readonly plan: string;
}

export interface BindRequest extends ProviderCall {
  readonly instance: string;
  /** Public host name of the app: which app it is. */
  readonly app: string;
}

export interface UnitRequest extends BindRequest {
  /** host:port of the unit. */
  readonly unit: string;
}

/**
 * What a provider does. Every method may be called again for the same step, also while the first call still runs in another
 * process, and has to come to the same end. Failures are ProviderErrors; anything else is answered as 500 without its text.
 */
export interface ProviderHandlers {
  /** [] when there is nothing to choose. */
  plans(): Promise<readonly ProviderPlan[]>;
  /** Resolves when it exists. The same key again: it is there already. Another key: `exists`. */
  create(request: CreateRequest): Promise<void>;
  info(instance: string): Promise<readonly ProviderFact[]>;
  status(instance: string): Promise<ProviderStatus>;
  /** The variables for the app; for a binding that is there already, the same ones or new ones that work. */
  bind(request: BindRequest): Promise<Readonly<Record<string, string>>>;
  /** A binding that is not there is unbound already. */
  unbind(request: BindRequest): Promise<void>;
  bindUnit?(request: UnitRequest): Promise<void>;
  unbindUnit?(request: UnitRequest): Promise<void>;
  /** `unknown_instance` when it is gone already. */
  remove(call: ProviderCall & { readonly instance: string }): Promise<void>;
}

/** How a provider says no, and the status that says so. */
export const PROVIDER_ERRORS = {
  /** Something in the request is not as it has to be. */
  invalid: 400,
  unknown_instance: 404,
  /** Somebody else's, or of another step. */
  exists: 409,
  /** Later perhaps: the instance is not ready, or is being removed. */
  not_ready: 412,
  /** What the provider stands in front of cannot be reached, or is too slow. */
  unavailable: 503,
} as const;
type ProviderErrorCode = keyof typeof PROVIDER_ERRORS;

/** The message goes to whoever asked: no secrets. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;

  constructor(code: ProviderErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

export function unknownInstance(instance: string): ProviderError {
  return new ProviderError('unknown_instance', `There is no instance "${instance}".`);
}

export function instanceExists(instance: string): ProviderError {
  return new ProviderError('exists', `There is an instance "${instance}" already.`);
}

/** Something is meant that went before what is there now under the same name. */
export function isAnother(given: string, known: string): boolean {
  return given !== '' && known !== '' && given !== known;
}

/** A step that was undone since: its late twin must not do it again. */
export function stepUndone(): ProviderError {
  return new ProviderError('exists', 'This step was done and undone before; a new one needs a new Idempotency-Key.');
}
