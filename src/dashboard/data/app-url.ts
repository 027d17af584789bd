import type { App } from '../api/operations.ts';

/**
 * Where a browser finds the app. The API says a URL where that is HTTPS. An extra name leads there by itself once it has a certificate,
 * where both are at the usual ports; else it is at the port of the app's own.
 */
export function appUrl(app: Pick<App, 'Ip' | 'url'>, address: string = app.Ip): string {
  const own = app.url !== undefined && isWebUrl(app.url) ? app.url : `http://${app.Ip}`;
  if (address === app.Ip || !URL.canParse(own)) return own;
  const { port, protocol } = new URL(own);
  return port === '' ? `http://${address}` : `${protocol}//${address}:${port}`;
}

/** Others would run where they are clicked. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
