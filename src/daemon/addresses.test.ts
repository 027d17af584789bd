import { expect, it } from 'vitest';
import { fromHere, isLoopback } from './addresses.ts';

it('takes for loopback only what surely is', () => {
  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) expect(isLoopback(host), host).toBe(true);
  for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.example.com', 'localhost.example.com', '127.']) {
    expect(isLoopback(host), host).toBe(false);
  }
});

it('reaches a door that listens on every address over loopback', () => {
  expect(fromHere({ host: '0.0.0.0', port: 1 })).toEqual({ host: '127.0.0.1', port: 1 });
  expect(fromHere({ host: '::', port: 1 })).toEqual({ host: '::1', port: 1 });
  expect(fromHere({ host: '10.0.0.1', port: 1 })).toEqual({ host: '10.0.0.1', port: 1 });
});
