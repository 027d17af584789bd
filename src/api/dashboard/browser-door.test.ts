/** Whose cookie counts: only that of a request which a page of this server has sent, and only below /dashboard/api. */
import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { demandOwnPage, enterFromBrowser, sessionCookie } from './browser-door.ts';

const TOKEN = 'ab12'.repeat(16);

function request(headers: Record<string, string>, url = '/dashboard/api/apps?x=1'): IncomingMessage {
  return {
    url,
    headers: {
      host: 'paas.example:8080',
      cookie: `other=1; __Host-tancho-session=${TOKEN}; tancho-session=${TOKEN}`,
      ...headers,
    },
  } as never;
}

function entered(headers: Record<string, string>): string {
  const one = request(headers);
  expect(enterFromBrowser(one)).toBe(true);
  expect(one.url).toBe('/apps?x=1');
  try {
    demandOwnPage(one);
  } catch (error) {
    expect((error as { code: string }).code).toBe('access.denied');
    expect(one.headers.authorization).toBe('bearer');
    return 'refused';
  }
  return one.headers.authorization ?? '';
}

describe('the door of the dashboard', () => {
  it.each([
    ['a page of this server, which the browser vouches for', { 'sec-fetch-site': 'same-origin' }],
    ['the same behind a proxy that changes the host', { 'sec-fetch-site': 'same-origin', origin: 'https://x.example' }],
    ['over plain HTTP, with its origin', { origin: 'http://paas.example:8080' }],
    ['a GET over plain HTTP, which has no origin', { 'x-tancho-dashboard': '1' }],
  ])('lets in %s', (_, headers) => {
    expect(entered(headers)).toBe(`bearer ${TOKEN}`);
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', 'x-tancho-dashboard': '1' }],
    ['an app beside it', { 'sec-fetch-site': 'same-site', 'x-tancho-dashboard': '1' }],
    ['an address that was typed', { 'sec-fetch-site': 'none' }],
    ['another origin', { origin: 'http://shop.paas.example:8080', 'x-tancho-dashboard': '1' }],
    ['another port of the same host', { origin: 'http://paas.example:8000' }],
    ['an origin without a name', { origin: 'null', 'x-tancho-dashboard': '1' }],
    ['what says nothing about itself, as images do over plain HTTP', {}],
  ])('refuses %s, and gives it no token', (_, headers) => {
    expect(entered(headers)).toBe('refused');
  });

  it('takes no header in place of the cookie, and is nobody without one', () => {
    const one = request({ 'sec-fetch-site': 'same-origin', authorization: 'bearer stolen', cookie: '' });
    enterFromBrowser(one);
    expect(one.headers.authorization).toBe('bearer');
  });

  it('leaves other requests as they are: there a cookie means nothing', () => {
    const one = request({ 'sec-fetch-site': 'same-origin' }, '/apps');
    expect(enterFromBrowser(one)).toBe(false);
    expect(one.headers.authorization).toBeUndefined();
    demandOwnPage(one);
  });

  it('keeps the session where no script and no other site can use it, over TLS only where there is TLS', () => {
    expect(sessionCookie(TOKEN, 'http://paas.example:8080', 60)).toBe(
      `tancho-session=${TOKEN}; Path=/dashboard/api; Max-Age=60; HttpOnly; SameSite=Strict`,
    );
    expect(sessionCookie(null, 'https://paas.example', 60)).toBe(
      '__Host-tancho-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
    );
  });

  it('is not sent to apps: no cookie names a domain', () => {
    for (const origin of ['http://paas.example:8080', 'https://paas.example']) {
      expect(sessionCookie(TOKEN, origin, 60)).not.toMatch(/domain/i);
    }
  });

  const ofApp = `tancho-session=${'e'.repeat(64)}`;
  it.each([
    ['a page over HTTPS', { 'sec-fetch-site': 'same-origin' }],
    ['a change over HTTPS', { 'sec-fetch-site': 'same-origin', origin: 'https://paas.example:8080' }],
  ])('takes no cookie that an app beside it has set for the whole domain: %s', (_, headers) => {
    expect(entered({ ...headers, cookie: ofApp })).toBe('bearer');
    expect(entered({ ...headers, cookie: `${ofApp}; __Host-tancho-session=${TOKEN}` })).toBe(`bearer ${TOKEN}`);
  });

  it('takes either on this machine, by the way it came', () => {
    const local = { host: 'localhost:8080', 'sec-fetch-site': 'same-origin' };
    expect(entered({ ...local, cookie: `tancho-session=${TOKEN}` })).toBe(`bearer ${TOKEN}`);
    expect(entered({ ...local, cookie: `__Host-tancho-session=${TOKEN}` })).toBe(`bearer ${TOKEN}`);
  });
});
