import { afterEach, expect, it } from 'vitest';
import { type PublicAddress, publicAddress } from './public-address.ts';

const opened: PublicAddress[] = [];
afterEach(() => Promise.all(opened.splice(0).map((address) => address.close())));

/** Names of a DNS, and what this machine is called from outside. */
async function resolved(
  config: { publicAddress?: string | null; domain: string; edge: string },
  names: Readonly<Record<string, readonly string[]>> = {},
  own: readonly string[] = ['192.0.2.9'],
): Promise<string> {
  const address = publicAddress(
    {
      publicAddress: config.publicAddress ?? null,
      domain: config.domain,
      edgeListen: { host: config.edge, port: 8000 },
    },
    { resolve: async (name) => names[name] ?? [], ownAddresses: () => own },
  );
  opened.push(address);
  await address.refresh();
  return address.current();
}

const APPS = 'apps.example.com';

it('is the setting, whatever else there is', async () => {
  const config = { publicAddress: '203.0.113.5', domain: APPS, edge: '192.0.2.1' };
  expect(await resolved(config, { [APPS]: ['198.51.100.1'] })).toBe('203.0.113.5');
});

it('is loopback below localhost', async () => {
  for (const domain of ['localhost', 'apps.localhost']) {
    expect(await resolved({ domain, edge: '0.0.0.0' })).toBe('127.0.0.1');
  }
});

it('is where the names of apps lead, rather than where that of the domain does', async () => {
  const names = { [`tancho.${APPS}`]: ['198.51.100.7'], [APPS]: ['198.51.100.1'] };
  expect(await resolved({ domain: APPS, edge: '127.0.0.1' }, names)).toBe('198.51.100.7');
  expect(await resolved({ domain: APPS, edge: '127.0.0.1' }, { [APPS]: ['198.51.100.1'] })).toBe('198.51.100.1');
});

it('is that of the edge, or else of the machine, where no name leads anywhere', async () => {
  expect(await resolved({ domain: APPS, edge: '192.0.2.1' })).toBe('192.0.2.1');
  expect(await resolved({ domain: APPS, edge: 'localhost' })).toBe('127.0.0.1');
  for (const edge of ['0.0.0.0', '::', 'edge.internal'])
    expect(await resolved({ domain: APPS, edge })).toBe('192.0.2.9');
  expect(await resolved({ domain: APPS, edge: '::' }, {}, [])).toBe('127.0.0.1');
});

it('follows the names, and keeps the last answer while there is none', async () => {
  let answer: readonly string[] = ['198.51.100.1'];
  const address = publicAddress(
    { publicAddress: null, domain: APPS, edgeListen: { host: '0.0.0.0', port: 80 } },
    { resolve: async () => answer, ownAddresses: () => [] },
  );
  opened.push(address);
  await address.refresh();
  expect(address.current()).toBe('198.51.100.1');
  answer = [];
  await address.refresh();
  expect(address.current()).toBe('198.51.100.1');
  answer = ['198.51.100.2'];
  await address.refresh();
  expect(address.current()).toBe('198.51.100.2');
});
