import { expect, it } from 'vitest';
import { parseResolvers } from './resolvers.ts';

it.each([
  ['nameserver 10.0.0.2\nnameserver 1.1.1.1\n', [], ['10.0.0.2', '1.1.1.1']],
  ['# local\nsearch x\nnameserver 127.0.0.53\noptions edns0\n', ['127.0.0.53'], []],
  ['nameserver fe80::1%eth0\nnameserver 192.168.1.1\n', [], ['192.168.1.1']],
  ['search example.com\n', ['127.0.0.1'], []],
  ['', ['127.0.0.1'], []],
])('%j', (text, loopback, others) => {
  expect(parseResolvers(text)).toEqual({ loopback, others });
});
