import type { EnvVar, Release } from './app.ts';

/** A release that is not stored yet: the rollout that brings it gives it its number. */
export type NewRelease = Omit<Release, 'number'>;

/** The same code and processes with another environment. */
export function withEnv(
  serving: Release,
  change: { readonly env: readonly EnvVar[]; readonly by: string; readonly at: Date },
): NewRelease {
  const { number: _number, ...same } = serving;
  return { ...same, env: change.env, reason: 'env', by: change.by, createdAt: change.at.toISOString() };
}

/** The same code and environment with another number of units of one process. */
export function withCount(
  serving: Release,
  change: { readonly process: string; readonly count: number; readonly by: string; readonly at: Date },
): NewRelease {
  const { number: _number, ...same } = serving;
  const { process, count, by, at } = change;
  const processes = { ...serving.processes, [process]: { command: '', ...serving.processes[process], count } };
  return { ...same, processes, reason: 'scale', by, createdAt: at.toISOString() };
}

/** Both sorted by name, as the store gives them. */
export function isSameEnv(a: readonly EnvVar[], b: readonly EnvVar[]): boolean {
  const facts = (env: readonly EnvVar[]): string =>
    JSON.stringify(env.map((variable) => [variable.name, variable.value, variable.public, variable.managedBy]));
  return facts(a) === facts(b);
}
