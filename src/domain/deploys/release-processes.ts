/** The processes of a new release: commands and settings from what was built, counts from who said so last. */
import type { ProcessType, Release } from '../apps/app.ts';
import type { Artifact } from './builder.ts';

/**
 * `serving`: the release before, null before the first one. `counts`: as people have set them; they come before what the source says,
 * and that before what was.
 */
export function releaseProcesses(
  { processes, settings = {} }: Pick<Artifact, 'processes' | 'settings'>,
  serving: Pick<Release, 'processes'> | null,
  counts: Readonly<Record<string, number>>,
): Record<string, ProcessType> {
  return Object.fromEntries(
    Object.entries(processes).map(([name, command]) => {
      const { count = serving?.processes[name]?.count ?? 1, ...rest } = settings[name] ?? {};
      return [name, { command, count: counts[name] ?? count, ...rest }];
    }),
  );
}
