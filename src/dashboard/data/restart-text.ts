import type { AnswerOf, App } from '../api/operations.ts';
import { plural } from './format.ts';

type Volume = AnswerOf<'GET /apps/{app}/volumes'>[number];

/** What a change does to what runs. `isLater`: it is to count from the next restart on. */
export function restartText(
  { Units }: Pick<App, 'Units'>,
  volumes: readonly Pick<Volume, 'name' | 'path' | 'single'>[],
  isLater = false,
): string {
  const running = Units.filter(({ State }) => State !== 'stopped');
  if (running.length === 0)
    return 'Nothing of the app runs, so nothing is restarted; it counts from the next start on.';
  if (isLater) return 'Nothing is restarted now; it counts from the next restart or deploy on.';
  const processes = [...Map.groupBy(running, ({ ProcessName }) => ProcessName)].map(
    ([process, units]) => `${process} (${plural(units.length, 'unit')})`,
  );
  const restarts = `Restarts once: ${processes.join(', ')}.`;
  const single = volumes.find((one) => one.single && one.path !== '');
  return single === undefined
    ? `${restarts} New units take over before the old ones go; no request fails.`
    : `${restarts} The volume ${single.name} is for one unit at a time, so the unit that has it ends before the next one starts: it does not answer in between.`;
}
