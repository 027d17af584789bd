import { expect, it } from 'vitest';
import { bareHost, hostPort, portOf } from './host-port.ts';

it.each([
  ['127.0.0.1', 80, '127.0.0.1:80'],
  ['::1', 8080, '[::1]:8080'],
])('%s and port %i are %s, and the port is found in it again', (host, port, address) => {
  expect(hostPort({ host, port })).toBe(address);
  expect(portOf(address)).toBe(port);
  expect(bareHost(new URL(`http://${address}`))).toBe(host);
});
