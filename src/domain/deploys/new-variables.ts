/** Variables that an app's files want it to have: it gets them with the release, in the transaction that makes that serve. */
import type { App, EnvVar } from '../apps/app.ts';
import { checkTotal, checkVariable } from '../env/env-rules.ts';
import { PlatformError } from '../errors.ts';
import { privateValues } from '../units/private-values.ts';
import type { Artifact } from './builder.ts';
import type { Transcript } from './transcript.ts';

/** Those it has none of; what people have set, or taken away since the first release, stays so. */
export function newVariables({ variables = [] }: Artifact, app: App, env: readonly EnvVar[]): EnvVar[] {
  const has = new Set(env.map(({ name }) => name));
  const added: EnvVar[] = [];
  for (const { name, value, isPublic, when } of variables) {
    if (has.has(name) || (when === 'first' && app.release !== null)) continue;
    try {
      added.push(checkVariable({ name, value, public: isPublic }));
      checkTotal([...env, ...added]);
      has.add(name);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      if (added.at(-1)?.name === name) added.pop();
    }
  }
  return added;
}

/** Those of a release that the app does not have yet. */
export function addedTo(env: readonly EnvVar[], released: readonly EnvVar[]): EnvVar[] {
  return released.filter(({ name }) => !env.some((variable) => variable.name === name));
}

export function announceNew(
  transcript: Transcript,
  { env }: { readonly env: readonly EnvVar[] },
  release: { readonly env: readonly EnvVar[] },
): void {
  const added = addedTo(env, release.env);
  transcript.alsoRedact(privateValues(added));
  if (added.length === 0) return;
  transcript.say(`-----> Variables set for the app: ${added.map(({ name }) => name).join(', ')}`);
}
