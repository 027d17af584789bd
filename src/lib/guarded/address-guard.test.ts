import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressKindOf } from './address-class.ts';
import { type AddressGuardOptions, createAddressGuard, ForbiddenAddress, UnknownHost } from './address-guard.ts';
import { allowEntry } from './allow-list.ts';
import { addressBytes } from './ip-address.ts';

const hex = (...bytes: readonly number[]): string =>
  Array.from({ length: bytes.length / 2 }, (_, index) =>
    (((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0)).toString(16),
  ).join(':');
const dotted = (bytes: readonly number[]): string => bytes.join('.');

/** Every way to write an IPv4 address inside an IPv6 one. */
const CARRIERS: readonly ((v4: readonly number[]) => string)[] = [
  (v4) => `::ffff:${dotted(v4)}`,
  (v4) => `::ffff:0:${hex(...v4)}`,
  (v4) => `64:ff9b::${dotted(v4)}`,
  (v4) => `64:ff9b:1::${hex(...v4)}`,
  (v4) => `2002:${hex(...v4)}::1`,
  (v4) => `2001:0:${hex(...v4)}:0:0:f7f7:f7f7`,
  (v4) => `2001:0:808:808:0:0:${hex(...v4.map((byte) => byte ^ 0xff))}`,
  (v4) => `2606:4700::5efe:${dotted(v4)}`,
];

const octet = fc.integer({ min: 0, max: 255 });
const tail = fc.tuple(octet, octet, octet);
const PRIVATE: readonly (readonly [string, fc.Arbitrary<number[]>])[] = [
  ['loopback', tail.map((rest) => [127, ...rest])],
  ['private', tail.map((rest) => [10, ...rest])],
  ['private', tail.map(([a, b, c]) => [172, 16 + (a % 16), b, c])],
  ['private', tail.map(([, b, c]) => [192, 168, b, c])],
  ['private', tail.map(([a, b, c]) => [100, 64 + (a % 64), b === 100 ? 101 : b, c])],
  ['never', tail.map(([, b, c]) => [169, 254, b, c])],
  ['never', tail.map(([a, b, c]) => [224 + (a % 32), a, b, c])],
  ['never', tail.map((rest) => [0, ...rest])],
];

function guard(options: Partial<AddressGuardOptions> = {}) {
  const made = createAddressGuard({
    allow: [],
    allowLoopback: false,
    ownPorts: () => [8080],
    ownAddresses: () => ['192.0.2.9', '8.8.4.4'],
    ...options,
  });
  return (url: string) => made.check(new URL(url));
}

describe('what kind of place an address is', () => {
  it.each(PRIVATE)('%s, however the address is written', (wanted, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.constantFrom(...CARRIERS), (v4, carry) => {
        expect(addressKindOf(dotted(v4)).class).toBe(wanted);
        expect(addressKindOf(carry(v4)).class, carry(v4)).toBe(wanted);
      }),
    );
  });

  it('public, and not only where nothing was thought of', () => {
    for (const address of [
      '1.1.1.1',
      '8.8.8.8',
      '172.32.0.1',
      '2606:4700:4700::1111',
      '64:ff9b::8.8.8.8',
      '2002:808:808::1',
    ]) {
      expect(addressKindOf(address).class, address).toBe('public');
    }
  });

  it.each([
    ['::1', 'loopback'],
    ['::', 'never'],
    ['0.0.0.0', 'never'],
    ['255.255.255.255', 'never'],
    ['fe80::1%eth0', 'never'],
    ['fd00:ec2::254', 'never'],
    ['fd00:ec2::23', 'never'],
    ['fd20:ce::254', 'never'],
    ['100.100.100.200', 'never'],
    ['168.63.129.16', 'never'],
    ['ff02::1', 'never'],
    ['5000::1', 'never'],
    ['fd12::1', 'private'],
    ['fec0::1', 'private'],
    ['2001:db8::1', 'private'],
    ['198.18.0.1', 'private'],
    ['::127.0.0.1', 'loopback'],
    ['not an address', 'never'],
  ])('%s: %s', (address, wanted) => {
    expect(addressKindOf(address).class).toBe(wanted);
  });

  it('reads every address as the URL parser writes it', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const host = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(addressBytes(host)).toEqual(addressBytes(address));
      }),
    );
    expect(addressBytes('1.2.3')).toBeNull();
    expect(addressBytes('::1::')).toBeNull();
  });
});

describe('the guard', () => {
  it('refuses what is private, in every notation of a URL', async () => {
    const loopback = [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '[::ffff:7f00:1]',
      '[::1]',
      '①27.0.0.1',
    ];
    for (const host of [...loopback, '10.0.0.1', '0xa.1', '[fd12::1]', '127.0.0.1.']) {
      await expect(guard()(`http://${host}:90/`), host).rejects.toBeInstanceOf(ForbiddenAddress);
    }
  });

  it('checks every address of a name, and answers them for the connection', async () => {
    let addresses = ['93.184.216.34', '2606:2800:21f:cb07::1'];
    const resolve = async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));
    const check = guard({ resolve });
    expect((await check('http://a.example.com')).map(({ address }) => address)).toEqual(addresses);
    addresses = ['93.184.216.34', '10.0.0.1'];
    await expect(check('http://a.example.com')).rejects.toThrow('it is a private address');
    await expect(check('http://a.example.com')).rejects.not.toThrow('10.0.0.1');
    addresses = [];
    await expect(check('http://a.example.com')).rejects.toBeInstanceOf(UnknownHost);
  });

  it('takes exceptions by name, by address and by network', async () => {
    const resolve = async () => [{ address: '10.1.2.3', family: 4 as const }];
    for (const allow of ['db.internal', 'DB.internal.', '10.1.2.3', '10.0.0.0/8', '0.0.0.0/0']) {
      await guard({ resolve, allow: [allow] })('http://db.internal/');
    }
    for (const allow of ['other.internal', '10.1.2.4', '10.2.0.0/15', '::/0']) {
      await expect(guard({ resolve, allow: [allow] })('http://db.internal/')).rejects.toBeInstanceOf(ForbiddenAddress);
    }
    await guard({ allow: ['10.0.0.0/8'] })('http://[::ffff:10.1.2.3]/');
    await guard({ allow: ['64:ff9b::/96'] })('http://[64:ff9b::10.1.2.3]/');
  });

  it('makes no exception for what is never called', async () => {
    const allow = ['0.0.0.0/0', '::/0', 'metadata.internal'];
    const resolve = async () => [{ address: '169.254.169.254', family: 4 as const }];
    const check = guard({ allow, resolve, allowLoopback: true });
    for (const host of [
      'metadata.internal',
      '169.254.169.254',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '0.0.0.0',
      '224.0.0.1',
      '[::ffff:169.254.169.254]',
    ]) {
      await expect(check(`http://${host}/`), host).rejects.toThrow('never called');
    }
  });

  it('never calls its own program, wherever it is reached', async () => {
    const check = guard({ allow: ['0.0.0.0/0', '::/0'], allowLoopback: true });
    for (const host of [
      '127.0.0.1',
      '127.9.9.9',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '192.0.2.9',
      '8.8.4.4',
      '[::ffff:8.8.4.4]',
    ]) {
      await expect(check(`http://${host}:8080/`), host).rejects.toThrow('the platform itself');
      await check(`http://${host}:8081/`);
    }
    await check('http://8.8.8.8:8080/');
  });

  it('knows the port that a URL does not name', async () => {
    const check = guard({ allowLoopback: true, ownPorts: () => [443] });
    await check('http://127.0.0.1/');
    await expect(check('https://127.0.0.1/')).rejects.toBeInstanceOf(ForbiddenAddress);
  });

  it('calls http and https only', async () => {
    for (const url of ['ftp://8.8.8.8/', 'file:///etc/passwd', 'gopher://8.8.8.8/']) {
      await expect(guard()(url)).rejects.toBeInstanceOf(ForbiddenAddress);
    }
  });

  it('lets loopback pass only where that is wanted', async () => {
    await guard({ allowLoopback: true })('http://127.0.0.1:81/');
    await expect(guard({ allowLoopback: true })('http://10.0.0.1:81/')).rejects.toBeInstanceOf(ForbiddenAddress);
  });
});

describe('an entry of the allow-list', () => {
  it.each([
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '::/129',
    'a/8',
    '',
    '*',
    'http://a',
    'a:80',
    '1.2.3',
    '0x7f.1',
    'a b',
    'fe80::1%eth0',
    '10.0.0.0/',
    '10.0.0.0/-1',
  ])('is not "%s"', (text) => {
    expect(allowEntry(text)).toBeNull();
  });

  it('is a host, an address or a network', () => {
    for (const text of [
      'localhost',
      'db-1.internal',
      '_x.example.com',
      '10.0.0.1',
      '10.0.0.0/8',
      '::1',
      'fd00::/8',
      '0.0.0.0/0',
    ]) {
      expect(allowEntry(text), text).not.toBeNull();
    }
  });
});
