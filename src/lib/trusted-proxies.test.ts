import { describe, expect, it } from 'vitest';
import { nodeAddress, parseForwarded } from './forwarded-header.ts';
import { addressGroup, parseNetwork, TrustedProxies } from './trusted-proxies.ts';

const proxies = new TrustedProxies(['127.0.0.1', '10.0.0.0/8', '2001:db8:ffff::/48']);
const origin = (peer: string, fields: Record<string, string> = {}) =>
  proxies.origin(peer, (name) => fields[name] ?? '');

describe('networks', () => {
  it.each([
    ['127.0.0.1', { address: '127.0.0.1', bits: 32 }],
    [' 10.0.0.0/8 ', { address: '10.0.0.0', bits: 8 }],
    ['fd00::/8', { address: 'fd00::', bits: 8 }],
    ['10.0.0.0/33', null],
    ['10.0.0/8', null],
    ['proxy.internal', null],
    ['10.0.0.0/8/8', null],
    ['10.0.0.0/', null],
    ['fe80::1%eth0', null],
    ['', null],
  ])('"%s"', (text, expected) => expect(parseNetwork(text)).toEqual(expected));

  it('trust addresses inside of them, in whatever form a socket reports them', () => {
    for (const address of ['127.0.0.1', '10.9.8.7', '::ffff:10.9.8.7', '2001:db8:ffff::1'])
      expect(proxies.trusts(address), address).toBe(true);
    for (const address of ['127.0.0.2', '11.0.0.1', '2001:db8:fffe::1', 'unknown', ''])
      expect(proxies.trusts(address), address).toBe(false);
    expect(new TrustedProxies([]).trusts('127.0.0.1')).toBe(false);
  });
});

describe('the origin of a request', () => {
  const FIELDS = {
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.example.com',
  };

  it('is the peer where it is not trusted, whatever it says', () => {
    const expected = { path: ['198.51.100.1'], proto: null, host: null };
    expect(origin('198.51.100.1', { ...FIELDS, forwarded: 'for=1.2.3.4;proto=https' })).toEqual(expected);
  });

  it('is what a trusted proxy says', () => {
    expect(origin('::ffff:127.0.0.1', FIELDS)).toEqual({
      path: ['203.0.113.7', '127.0.0.1'],
      proto: 'https',
      host: 'shop.example.com',
    });
    expect(origin('10.0.0.1')).toEqual({ path: ['10.0.0.1'], proto: null, host: null });
  });

  it('goes back over trusted proxies to the first stranger; what was said before that one is left out', () => {
    const said = origin('10.0.0.1', {
      'x-forwarded-for': '6.6.6.6, 203.0.113.7:4711, 10.0.0.2',
      'x-forwarded-proto': 'http, https, http',
      'x-forwarded-host': 'forged.test, shop.test, inner.test',
    });
    expect(said).toEqual({ path: ['203.0.113.7', '10.0.0.2', '10.0.0.1'], proto: 'https', host: 'shop.test' });
  });

  it('ends at what is no address', () => {
    for (const node of ['unknown', '_hidden', '999.1.1.1', 'localhost', ''])
      expect(origin('10.0.0.1', { 'x-forwarded-for': `203.0.113.7, ${node}` }).path, node).toEqual(['10.0.0.1']);
    const many = Array.from({ length: 40 }, () => '10.0.0.3').join(',');
    expect(origin('10.0.0.1', { 'x-forwarded-for': many }).path).toEqual(['10.0.0.1']);
  });

  it('is read from Forwarded where no X-Forwarded field is there', () => {
    const forwarded = 'for=6.6.6.6;proto=http, For="[2001:db8::7]:4711";Proto=https;host="shop.test", for=10.0.0.2';
    expect(origin('10.0.0.1', { forwarded })).toEqual({
      path: ['2001:db8::7', '10.0.0.2', '10.0.0.1'],
      proto: 'https',
      host: 'shop.test',
    });
    // A proxy that sets one of the two often lets the other through as the client sent it.
    expect(origin('10.0.0.1', { ...FIELDS, forwarded: 'for=6.6.6.6' }).path[0]).toBe('203.0.113.7');
    expect(origin('10.0.0.1', { forwarded: 'for=unknown;proto=https' })).toMatchObject({
      path: ['10.0.0.1'],
      proto: 'https',
    });
  });
});

describe('Forwarded', () => {
  it('says nothing when it is malformed', () => {
    for (const value of ['for', 'for=a b', 'for="a', 'for=1.2.3.4 x', '=a', 'for=[::1]'])
      expect(parseForwarded(value), value).toEqual([]);
    expect(parseForwarded('for="a\\"b"')).toEqual([{ for: 'a"b', proto: '', host: '' }]);
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:80', '192.0.2.1'],
    ['[2001:db8::1]:80', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[192.0.2.1]', null],
    ['unknown', null],
  ])('node %s', (node, expected) => expect(nodeAddress(node)).toBe(expected));
});

it('an IPv6 client is counted by its network', () => {
  expect(addressGroup('192.0.2.1')).toBe('192.0.2.1');
  expect(addressGroup('2001:db8::1')).toBe(addressGroup('2001:db8::ffff:1'));
  expect(addressGroup('2001:db8::1')).not.toBe(addressGroup('2001:db8:0:1::1'));
});
