/** What bindings make of an app's environment: a pure function of the app's own variables and of what is bound. */
import type { EnvVar } from '../apps/app.ts';
import { checkTotal, checkVariable } from '../env/env-rules.ts';
import { isPlatformError, PlatformError } from '../errors.ts';
import type { StoreReader, StoreWriter } from '../store.ts';
import { checkNames, renamed } from './binding-names.ts';
import type { VariableNames } from './service.ts';

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
  /** As the provider calls them. */
  readonly vars: Readonly<Record<string, string>>;
  readonly names: VariableNames;
}

/**
 * The app's own variables and those of its bindings, sorted by name. Where two instances give the same name the later binding
 * wins, and with its end the other comes back. Throws PlatformError `env.invalid` when it becomes too large.
 */
export function withBindings(env: readonly EnvVar[], bindings: readonly BoundVars[]): EnvVar[] {
  const merged = new Map(env.filter(({ managedBy }) => managedBy === '').map((variable) => [variable.name, variable]));
  for (const { instance, vars, names } of bindings) {
    for (const [name, value] of Object.entries(renamed(vars, names))) {
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

interface Described {
  readonly instance_name: string;
  readonly envs: Readonly<Record<string, string>>;
  readonly names?: VariableNames;
}

/** `{service: [{instance_name, envs}]}`, the variables as the provider calls them; `names` where the app calls some of them otherwise. */
function describeAll(bindings: readonly BoundVars[]): string {
  // A service may be called what every object has, such as "constructor".
  const services = new Map<string, Described[]>();
  for (const { service, instance, vars, names } of bindings) {
    const listed = services.get(service) ?? [];
    services.set(service, [
      ...listed,
      { instance_name: instance, envs: vars, ...(Object.keys(names).length > 0 && { names }) },
    ]);
  }
  const value = JSON.stringify(Object.fromEntries(services));
  if (Buffer.byteLength(value) <= MAX_DESCRIPTION_BYTES) return value;
  throw new PlatformError(
    'env.invalid',
    `All that is bound to an app may take at most ${MAX_DESCRIPTION_BYTES} bytes, as JSON.`,
    { hint: 'Unbind what is not needed, or ask the owner of the service for smaller variables.' },
  );
}

/** Refuses what a provider must not set, and what the app has set itself: nothing of its own is overwritten. Answers all of it, by the provider's names. */
export function checkBoundVars(
  env: readonly EnvVar[],
  vars: ReadonlyMap<string, string>,
  { instance, names }: Pick<BoundVars, 'instance' | 'names'>,
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
  const given = Object.fromEntries([...vars].sort(([a], [b]) => (a < b ? -1 : 1)));
  checkNames(names, given, instance);
  const seen = renamed(given, names);
  const own = env.filter(({ managedBy, name }) => managedBy === '' && Object.hasOwn(seen, name));
  if (own.length > 0) {
    const taken = own.map((variable) => variable.name).join(', ');
    throw new PlatformError('binding.conflict', `The app has set ${taken} itself, which ${instance} would replace.`, {
      hint: `Remove it first: tancho env unset ${taken.replaceAll(',', '')}`,
    });
  }
  return given;
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

/** What is bound to the app, the oldest binding first; `called`: by id of a binding the names in place of those that it has. */
export async function boundVars(
  store: StoreReader,
  app: string,
  without: ReadonlySet<string> = new Set(),
  called: ReadonlyMap<string, VariableNames> = new Map(),
): Promise<BoundVars[]> {
  const bindings = (await store.bindings({ app })).filter(({ id, state }) => state === 'bound' && !without.has(id));
  const found: BoundVars[] = [];
  for (const { id: binding, instance: id, vars, names } of bindings) {
    const instance = await store.instanceById(id);
    if (instance !== null)
      found.push({
        instance: instance.name,
        service: instance.service,
        vars,
        names: called.get(binding) ?? names.names,
      });
  }
  return found;
}
