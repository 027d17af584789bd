import { PlatformError } from './errors.ts';
import type { AppReader } from './apps/app-store.ts';
import type { App } from './apps/app.ts';

/** The app, or `app.not_found`. An app that is being removed is gone for everybody. */
export async function demandApp(store: Pick<AppReader, 'app'>, name: string): Promise<App> {
  const app = await store.app(name);
  if (app === null || app.removing) {
    throw new PlatformError('app.not_found', `App ${name} not found.`, {
      hint: 'List your apps with "tancho app list".',
    });
  }
  return app;
}
