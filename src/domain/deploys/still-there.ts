/** What of an app is there beside a change of it that failed. */
import type { StoreReader } from '../store.ts';

export interface StillThere {
  /** The release it has; null when it has none. */
  readonly release: number | null;
  /** `up`: at least one unit serves; `down`: none does, although it should; `stopped`: somebody has stopped the app. */
  readonly is: 'up' | 'down' | 'stopped';
}

export async function stillThere(store: Pick<StoreReader, 'app' | 'units'>, name: string): Promise<StillThere> {
  const app = await store.app(name);
  if (app === null || app.release === null) return { release: null, is: 'down' };
  if (app.desired === 'stopped') return { release: app.release, is: 'stopped' };
  const units = await store.units(name);
  const isUp = units.some((unit) => unit.rollout === app.rollout && unit.state === 'started');
  return { release: app.release, is: isUp ? 'up' : 'down' };
}

/** For people, a whole sentence. */
export function stillThereText(app: string, { release, is }: StillThere): string {
  if (release === null) return `Nothing of "${app}" serves yet.`;
  if (is === 'up') return `Your previous version (release ${release}) is still serving.`;
  if (is === 'stopped') return `The app stays stopped, with your previous version (release ${release}).`;
  return `Your previous version (release ${release}) is still in place, but none of its units runs at the moment.`;
}
