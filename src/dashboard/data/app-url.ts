import type { App } from '../api/operations.ts';

/** Where a browser finds the app. The API says a URL where that is HTTPS; an extra name leads there by itself once it has a certificate. */
export function appUrl(app: Pick<App, 'Ip' | 'url'>, address: string = app.Ip): string {
  return address === app.Ip && app.url !== undefined ? app.url : `http://${address}`;
}
