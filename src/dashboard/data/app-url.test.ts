import { expect, it } from 'vitest';
import { appUrl } from './app-url.ts';

it('is HTTPS where the API says so', () => {
  const app = { Ip: 'shop.apps.example.com', url: 'https://shop.apps.example.com' };
  expect([appUrl(app), appUrl(app, 'shop.example.org')]).toEqual([app.url, 'http://shop.example.org']);
});

it('has the port of the app where that is not the usual one', () => {
  expect(appUrl({ Ip: 'shop.localhost:8000' }, 'shop.example.org')).toBe('http://shop.example.org:8000');
  const secure = { Ip: 'shop.example.com', url: 'https://shop.example.com:8443' };
  expect(appUrl(secure, 'shop.example.org')).toBe('https://shop.example.org:8443');
});

it('is the address with its port where it is not', () => {
  expect(appUrl({ Ip: 'shop.localhost:8000' })).toBe('http://shop.localhost:8000');
});

it('never runs anything', () => {
  expect(appUrl({ Ip: 'shop.localhost:8000', url: 'javascript:alert(1)' })).toBe('http://shop.localhost:8000');
});
