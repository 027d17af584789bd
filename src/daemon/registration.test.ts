import { expect, it } from 'vitest';
import { registrationOf } from './registration.ts';

const LOCAL = {
  apiListen: { host: '127.0.0.1', port: 8080 },
  domain: 'localhost',
  registration: 'auto',
  trustedProxies: [],
  proxyProtocol: false,
} as const;

it('auto is open on a machine that nobody else can reach, for callers on it', () => {
  expect(registrationOf(LOCAL)).toEqual({ registrationOpen: true, registrationFromHereOnly: true });
  expect(registrationOf({ ...LOCAL, domain: 'apps.localhost' }).registrationOpen).toBe(true);
});

it.each([
  ['the API listens for others', { apiListen: { host: '0.0.0.0', port: 8080 } }],
  ['the domain is a real one', { domain: 'apps.example.com' }],
  ['a proxy is in front', { trustedProxies: ['127.0.0.1'] }],
  ['a balancer is in front', { proxyProtocol: true }],
])('auto is closed when %s', (_, change) => {
  expect(registrationOf({ ...LOCAL, ...change }).registrationOpen).toBe(false);
  expect(registrationOf({ ...LOCAL, ...change, registration: 'open' }).registrationOpen).toBe(true);
});
