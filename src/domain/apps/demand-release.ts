import { PlatformError } from '../errors.ts';
import type { AppReader } from './app-store.ts';
import type { App, Release } from './app.ts';
import { ROUTED_PROCESS } from '../units/unit.ts';

/** The release that serves, or `app.not_deployed` with this message. */
export async function demandRelease(
  store: Pick<AppReader, 'release'>,
  app: App,
  message = `App ${app.name} has not been deployed yet.`,
): Promise<Release> {
  const release = app.release === null ? null : await store.release(app.name, app.release);
  if (release !== null) return release;
  throw new PlatformError('app.not_deployed', message, { hint: 'Push code to it first: git push tancho HEAD:main' });
}

/** The process type that is meant: the one named, else `web`, else the only one. */
export function demandProcess(release: Pick<Release, 'processes'>, named: string): string {
  const known = Object.keys(release.processes);
  const hint = `The processes are: ${known.join(', ')}.`;
  if (named !== '') {
    if (known.includes(named)) return named;
    throw new PlatformError('process.not_found', `The app has no process called ${named.slice(0, 100)}.`, { hint });
  }
  const [only, ...others] = known;
  if (known.includes(ROUTED_PROCESS)) return ROUTED_PROCESS;
  if (only !== undefined && others.length === 0) return only;
  throw new PlatformError('process.required', 'The app has several processes, and none was named.', { hint });
}
