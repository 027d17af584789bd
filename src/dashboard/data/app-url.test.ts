import { expect, it } from 'vitest';
import { appUrl } from './app-url.ts';

it('is HTTPS where the API says so', () => {
  const app = { Ip: 'shop.apps.example.com', url: 'https://shop.apps.example.com' };
  expect([appUrl(app), appUrl(app, 'shop.example.org')]).toEqual([app.url, 'http://shop.example.org']);
});

it('is the address with its port where it is not', () => {
  expect(appUrl({ Ip: 'shop.localhost:8000' })).toBe('http://shop.localhost:8000');
});
