import type { App } from '../api/operations.ts';
import { plural } from './format.ts';

/** What a change of the environment does to what runs. */
export function restartText(app: App): string {
  const running = app.Units.filter(({ State }) => State !== 'stopped');
  if (running.length === 0)
    return 'Nothing of the app runs, so nothing is restarted; it counts from the next start on.';
  const processes = [...Map.groupBy(running, ({ ProcessName }) => ProcessName)].map(
    ([process, units]) => `${process} (${plural(units.length, 'unit')})`,
  );
  return `Restarts once: ${processes.join(', ')}. New units take over before the old ones go; no request fails.`;
}
