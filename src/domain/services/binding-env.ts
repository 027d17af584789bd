/** What bindings make of an app's environment: a pure function of the app's own variables and of what is bound. */
import type { EnvVar } from '../apps/app.ts';
import { checkTotal, checkVariable } from '../env/env-rules.ts';
import { isPlatformError, PlatformError } from '../errors.ts';
import type { StoreReader, StoreWriter } from '../store.ts';

/** All bindings of an app as JSON: the name existing libraries look for, and our own. */
export const SERVICES_VARIABLES = ['TSURU_SERVICES', 'TANCHO_SERVICES'] as const;
/** No process starts with a variable of 128 KiB or more, whatever the others take. */
const MAX_DESCRIPTION_BYTES = 130_000;
/** No instance can be called this. */
const PLATFORM = 'tancho:services';

export interface BoundVars {
  /** Name of the instance. */
  readonly instance: string;
  readonly service: string;
  readonly vars: Readonly<Record<string, string>>;
}

/**
 * The app's own variables and those of its bindings, sorted by name. Where two instances give the same name the later binding
 * wins, and with its end the other comes back. Throws PlatformError `env.invalid` when it becomes too large.
 */
export function withBindings(env: readonly EnvVar[], bindings: readonly BoundVars[]): EnvVar[] {
  const merged = new Map(env.filter(({ managedBy }) => managedBy === '').map((variable) => [variable.name, variable]));
  for (const { instance, vars } of bindings) {
    for (const [name, value] of Object.entries(vars)) {
      merged.set(name, { name, value, public: false, managedBy: instance });
    }
  }
  if (bindings.length > 0) {
    const value = describeAll(bindings);
    for (const name of SERVICES_VARIABLES) merged.set(name, { name, value, public: false, managedBy: PLATFORM });
  }
  const all = [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  checkTotal(all);
  return all;
}

/** `{service: [{instance_name, envs}]}` */
function describeAll(bindings: readonly BoundVars[]): string {
  // A service may be called what every object has, such as "constructor".
  const services = new Map<string, { instance_name: string; envs: Readonly<Record<string, string>> }[]>();
  for (const { service, instance, vars } of bindings) {
    const listed = services.get(service) ?? [];
    services.set(service, [...listed, { instance_name: instance, envs: vars }]);
  }
  const value = JSON.stringify(Object.fromEntries(services));
  if (Buffer.byteLength(value) <= MAX_DESCRIPTION_BYTES) return value;
  throw new PlatformError(
    'env.invalid',
    `All that is bound to an app may take at most ${MAX_DESCRIPTION_BYTES} bytes, as JSON.`,
    { hint: 'Unbind what is not needed, or ask the owner of the service for smaller variables.' },
  );
}

/** Refuses what a provider must not set, and what the app has set itself: nothing of its own is overwritten. */
export function checkBoundVars(
  env: readonly EnvVar[],
  vars: ReadonlyMap<string, string>,
  instance: string,
): Record<string, string> {
  for (const [name, value] of vars) {
    try {
      checkVariable({ name, value, public: false });
    } catch (thrown) {
      if (!isPlatformError(thrown, 'env.invalid')) throw thrown;
      const message = `The provider of ${instance} gives a variable that no app can have: ${thrown.message}`;
      throw new PlatformError('provider.failed', message, { hint: 'Tell the owner of the service.' });
    }
  }
  const own = env.filter((variable) => variable.managedBy === '' && vars.has(variable.name));
  if (own.length > 0) {
    const names = own.map((variable) => variable.name).join(', ');
    throw new PlatformError('binding.conflict', `The app has set ${names} itself, which ${instance} would replace.`, {
      hint: `Remove it first: tancho env unset ${names.replaceAll(',', '')}`,
    });
  }
  return Object.fromEntries([...vars].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The variables of bindings in the app's stored environment become those of `env`; its own stay as they are. */
export async function storeBoundEnv(tx: StoreWriter, app: string, env: readonly EnvVar[]): Promise<void> {
  const managed = env.filter((variable) => variable.managedBy !== '');
  const names = new Set(env.map((variable) => variable.name));
  const gone = (await tx.env(app)).filter((variable) => variable.managedBy !== '' && !names.has(variable.name));
  await tx.unsetEnv(
    app,
    gone.map((variable) => variable.name),
  );
  await tx.setEnv(app, managed);
}

/** What is bound to the app, the oldest binding first. */
export async function boundVars(
  store: StoreReader,
  app: string,
  without: ReadonlySet<string> = new Set(),
): Promise<BoundVars[]> {
  const bindings = (await store.bindings({ app })).filter(({ id, state }) => state === 'bound' && !without.has(id));
  const found: BoundVars[] = [];
  for (const { instance: id, vars } of bindings) {
    const instance = await store.instanceById(id);
    if (instance !== null) found.push({ instance: instance.name, service: instance.service, vars });
  }
  return found;
}
