/** Use cases of releases: which there were, and what differs between two of them. */
import { demand } from '../access.ts';
import type { Caller } from '../caller.ts';
import { demandApp } from '../demand-app.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { App, Release } from './app.ts';
import { demandRelease } from './demand-release.ts';
import { type ReleaseChange, releaseChanges } from './release-changes.ts';

export interface ListedRelease {
  readonly release: Release;
  readonly isCurrent: boolean;
}

export interface ReleaseComparison {
  readonly app: string;
  readonly from: Release;
  readonly to: Release;
  readonly changes: readonly ReleaseChange[];
}

export interface Releases {
  /** Newest first, the newest MOST_RELEASES. Errors: app.not_found, access.denied. */
  list(caller: Caller, app: string): Promise<ListedRelease[]>;
  /**
   * `to`: `v7`, `7`, or '' for the one that serves; `from` '': the one before `to`. Errors: app.not_found, access.denied, app.not_deployed,
   * release.not_found, input.invalid.
   */
  compare(
    caller: Caller,
    app: string,
    asked: { readonly from: string; readonly to: string },
  ): Promise<ReleaseComparison>;
}

const MOST_RELEASES = 100;

export function createReleases({ store }: { readonly store: Pick<Store, 'app' | 'release' | 'releases'> }): Releases {
  async function permitted(caller: Caller, name: string): Promise<App> {
    const app = await demandApp(store, name);
    demand(caller, 'app.releases', { app });
    return app;
  }

  async function numbered(app: App, name: string, text: string): Promise<Release> {
    const [, digits] = /^v?(\d{1,9})$/.exec(text) ?? [];
    if (digits === undefined) {
      throw new PlatformError('input.invalid', `Parameter "${name}" is no release.`, {
        hint: `Send ${name}=v7, or ${name}=7.`,
      });
    }
    return (await store.release(app.name, Number(digits))) ?? notFound(app, `v${Number(digits)}`);
  }

  async function before(app: App, { number }: Release): Promise<Release> {
    const older = (await store.releases(app.name, MOST_RELEASES)).find((release) => release.number < number);
    return older ?? notFound(app, `a release before v${number}`);
  }

  return {
    async list(caller, name) {
      const app = await permitted(caller, name);
      const releases = await store.releases(name, MOST_RELEASES);
      return releases.map((release) => ({ release, isCurrent: release.number === app.release }));
    },

    async compare(caller, name, { from, to }) {
      const app = await permitted(caller, name);
      const later = to === '' ? await demandRelease(store, app) : await numbered(app, 'to', to);
      const earlier = from === '' ? await before(app, later) : await numbered(app, 'from', from);
      return { app: name, from: earlier, to: later, changes: releaseChanges(earlier, later) };
    },
  };
}

function notFound(app: App, what: string): never {
  throw new PlatformError(
    'release.not_found',
    `App ${app.name} has no ${what.replace(/^a release/, 'release')} any more.`,
    {
      hint: `GET /apps/${app.name}/releases lists those that are kept.`,
    },
  );
}
