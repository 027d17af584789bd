import { expect, it } from 'vitest';
import { isLoopbackHost } from './loopback-host.ts';

it.each([
  'localhost',
  'localhost:8080',
  'LOCALHOST.',
  'shop.localhost:80',
  '127.0.0.1:8080',
  '127.1.2.3',
  '[::1]:8080',
])('%s is this machine', (host) => expect(isLoopbackHost(host)).toBe(true));

it.each([
  '',
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '10.0.0.1:8080',
  'localhost@x',
  '[::2]',
  '::1',
])('%j may be another one', (host) => expect(isLoopbackHost(host)).toBe(false));
