import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostPort } from '../lib/host-port.ts';
import * as parse from './parsers.ts';

const port = fc.integer({ min: 0, max: 65_535 });
const label = fc.stringMatching(/^[a-z](?:[a-z0-9-]{0,20}[a-z0-9])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));

describe('listen', () => {
  it('reads every host name, IPv4 and IPv6 address with every port, and hostPort is its inverse', () => {
    fc.assert(
      fc.property(fc.oneof(name, fc.ipV4(), fc.ipV6()), port, (host, number) => {
        const listen = parse.listen(hostPort({ host, port: number }));
        expect(listen).toEqual({ host, port: number });
      }),
    );
  });

  it('takes a missing host for every address', () => {
    fc.assert(
      fc.property(port, (number) => {
        expect(parse.listen(`:${number}`)).toEqual({ host: '0.0.0.0', port: number });
      }),
    );
  });

  it('refuses ports that do not exist', () => {
    fc.assert(
      fc.property(name, fc.integer({ min: 65_536, max: 9_999_999 }), (host, number) => {
        expect(() => parse.listen(`${host}:${number}`)).toThrow(parse.BadValue);
      }),
    );
  });

  it('answers any text with an address or BadValue, nothing else', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        try {
          const { host, port: number } = parse.listen(text);
          expect(host).not.toBe('');
          expect(number).toBeGreaterThanOrEqual(0);
          expect(number).toBeLessThanOrEqual(65_535);
        } catch (error) {
          expect(error).toBeInstanceOf(parse.BadValue);
        }
      }),
    );
  });

  it.each([
    '',
    '8080',
    'host',
    'host:',
    '::1:8080',
    '[::1]',
    '[::1]x:1',
    '[1.2.3.4]:1',
    '300.1.1.1:1',
    'a b:1',
    '-a:1',
  ])('refuses %j', (text) => {
    expect(() => parse.listen(text)).toThrow(parse.BadValue);
  });
});

describe('sizes, times, numbers', () => {
  it.each([
    ['0', 0],
    ['64M', 64 * 1024 ** 2],
    ['1g', 1024 ** 3],
    ['2 GiB', 2 * 1024 ** 3],
    ['16777216', 16_777_216],
  ])('size %j', (text, bytes) => {
    expect(parse.size(16 * 1024 ** 2, true)(text)).toBe(bytes);
  });

  it.each(['', '-1', '1', '1.5G', 'G', '999999999999T'])('refuses size %j', (text) => {
    expect(() => parse.size(16 * 1024 ** 2, true)(text)).toThrow(parse.BadValue);
  });

  it.each([
    ['90', 90],
    ['90s', 90],
    ['2m', 120],
    ['1h', 3600],
  ])('time %j', (text, seconds) => {
    expect(parse.seconds(1, 3600)(text)).toBe(seconds);
  });

  it.each(['', '0', '2h', '1d', '-1', '1e3'])('refuses time %j', (text) => {
    expect(() => parse.seconds(1, 3600)(text)).toThrow(parse.BadValue);
  });

  it('a password has 6 to 50 characters or is none', () => {
    expect(parse.passwordOrNone('')).toBeNull();
    expect(parse.passwordOrNone('secret')).toBe('secret');
    expect(parse.passwordOrNone('ä'.repeat(50))).toBe('ä'.repeat(50));
    expect(() => parse.passwordOrNone('äöü')).toThrow(parse.BadValue);
    expect(() => parse.passwordOrNone('short')).toThrow(parse.BadValue);
    expect(() => parse.passwordOrNone('x'.repeat(51))).toThrow(parse.BadValue);
  });
});

describe('a number that may be none', () => {
  it('is none when empty, else a whole number in its bounds', () => {
    const limit = parse.wholeNumberOrNone(0, 10);
    expect([limit(''), limit(' '), limit('0'), limit('10')]).toEqual([null, null, 0, 10]);
    for (const text of ['11', '-1', '1.5', 'none']) expect(() => limit(text)).toThrow(parse.BadValue);
  });
});

describe('the address of a mail server', () => {
  it('has a host, and perhaps a user, a password and a port', () => {
    expect(parse.mailUrlOrNone('')).toBeNull();
    for (const text of ['smtp://mail', 'smtps://u:p%40ss@mail.example.com:465/', 'smtp://[::1]:25']) {
      expect(parse.mailUrlOrNone(text)).toBe(text);
    }
    for (const text of ['mail.example.com', 'http://mail', 'smtp://', 'smtp://mail/path', 'smtp://a:%@mail']) {
      expect(() => parse.mailUrlOrNone(text), text).toThrow(parse.BadValue);
    }
  });
});

describe('addresses that may be called', () => {
  it('are hosts and networks with commas between them, or none', () => {
    expect(parse.allowedAddresses(' ')).toEqual([]);
    expect(parse.allowedAddresses('db.internal, 10.0.0.0/8,::1')).toEqual(['db.internal', '10.0.0.0/8', '::1']);
    for (const text of ['10.0.0.0/64', 'a,,b', '*', 'http://a']) {
      expect(() => parse.allowedAddresses(text), text).toThrow(parse.BadValue);
    }
  });
});

describe('registryLogins', () => {
  it('reads hosts with their users and passwords, whatever a password holds', () => {
    const text = 'registry.example.com=ann:a,b:c=d, LOCALHOST:5000=ci:x , [::1]:5000=ci:y';
    expect([...parse.registryLogins(text)]).toEqual([
      ['registry.example.com', { user: 'ann', password: 'a,b:c=d' }],
      ['localhost:5000', { user: 'ci', password: 'x' }],
      ['[::1]:5000', { user: 'ci', password: 'y' }],
    ]);
    expect(parse.registryLogins(' ').size).toBe(0);
  });

  it.each(['registry.example.com', 'a=b', 'a=b:', 'a=:c', 'a=b:c,a=d:e', 'https://a=b:c', 'a/b=c:d'])(
    'refuses %s without repeating it',
    (text) => {
      expect(() => parse.registryLogins(text)).toThrow(/^must be host=user:password/);
    },
  );
});
