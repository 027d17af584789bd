import { expect, it } from 'vitest';
import { createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { SILENT } from '../../../lib/logger.ts';
import { reachedServices } from './reached-services.ts';

const guard = createAddressGuard({
  allow: ['10.0.0.0/8'],
  allowLoopback: true,
  ownPorts: () => [8080],
  resolve: async (host) => (host === 'db.internal' ? [{ address: '10.1.2.3', family: 4 }] : []),
});

it.each([
  ['127.0.0.1', 5432, ['127.0.0.1']],
  ['127.0.0.1', 8080, []],
  ['db.internal', 5432, ['10.1.2.3']],
  ['nowhere.internal', 5432, []],
  ['192.168.1.1', 5432, []],
  ['169.254.169.254', 80, []],
])('%s:%i is opened as %j', async (host, port, addresses) => {
  const found = await reachedServices([{ host, port }], { guard, logger: SILENT });
  expect(found).toEqual(addresses.map((address) => ({ address, port })));
});
