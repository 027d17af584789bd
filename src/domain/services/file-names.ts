/** What the file of an app says of the names of variables, for what is bound to it while it is deployed. What people have said stays. */
import type { EnvVar } from '../apps/app.ts';
import { PlatformError } from '../errors.ts';
import type { Store, StoreWriter } from '../store.ts';
import { boundVars, storeBoundEnv, withBindings } from './binding-env.ts';
import { checkNames, renamed } from './binding-names.ts';
import type { Binding, VariableNames } from './service.ts';

export interface NamedByFile {
  readonly env: readonly EnvVar[];
  /** In the transaction that makes the release serve. */
  write(tx: StoreWriter): Promise<void>;
}

/** With the app's lease. Throws `input.invalid` for a name that an instance does not give, `binding.conflict`. */
export async function namedByFile(
  store: Store,
  app: string,
  env: readonly EnvVar[],
  file: Readonly<Record<string, VariableNames>>,
): Promise<NamedByFile> {
  const called = new Map<string, VariableNames>();
  const changed: { readonly binding: Binding; readonly names: VariableNames }[] = [];
  for (const binding of await store.bindings({ app })) {
    const instance = await store.instanceById(binding.instance);
    if (instance === null || binding.state !== 'bound' || binding.names.from === 'set') continue;
    const names = file[instance.name] ?? {};
    if (JSON.stringify(binding.names.names) === JSON.stringify(names)) continue;
    checkNames(names, binding.vars, instance.name);
    demandFree(env, renamed(binding.vars, names), instance.name);
    called.set(binding.id, names);
    changed.push({ binding, names });
  }
  if (changed.length === 0) return { env, write: async () => {} };
  const renamedEnv = withBindings(env, await boundVars(store, app, new Set(), called));
  return {
    env: renamedEnv,
    async write(tx) {
      for (const { binding, names } of changed) await tx.updateBinding(binding.id, { names: { from: 'file', names } });
      await storeBoundEnv(tx, app, renamedEnv);
    },
  };
}

function demandFree(env: readonly EnvVar[], vars: Readonly<Record<string, string>>, instance: string): void {
  const taken = env.filter(({ managedBy, name }) => managedBy === '' && Object.hasOwn(vars, name));
  if (taken.length === 0) return;
  const names = taken.map(({ name }) => name);
  throw new PlatformError(
    'binding.conflict',
    `The app has set ${names.join(', ')} itself, which ${instance} would replace.`,
    {
      hint: `Remove it first: tancho env unset ${names.join(' ')}; or choose another name in tancho.yaml.`,
    },
  );
}
