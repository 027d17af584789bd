/** The processes of a new release: commands and settings from what was built, counts from who said so last. */
import type { ProcessType, Release } from '../apps/app.ts';
import type { Artifact } from './builder.ts';

/** `serving`: the release before, whose counts go on; null before the first one. */
export function releaseProcesses(
  { processes, settings = {} }: Pick<Artifact, 'processes' | 'settings'>,
  serving: Pick<Release, 'processes'> | null,
): Record<string, ProcessType> {
  return Object.fromEntries(
    Object.entries(processes).map(([name, command]) => {
      const { count = 1, ...rest } = settings[name] ?? {};
      return [name, { command, count: serving?.processes[name]?.count ?? count, ...rest }];
    }),
  );
}
