import { describe, expect, it } from 'vitest';
import { isPlatformError } from '../errors.ts';
import { networkOf, Throttle } from './throttle.ts';

const HERE = '10.0.0.1';
const ELSEWHERE = '10.0.0.2';

function fixture() {
  let time = Date.parse('2024-01-01T00:00:00Z');
  const throttle = new Throttle(() => new Date(time));
  return {
    throttle,
    wait: (seconds: number): void => void (time += seconds * 1_000),
    fail(times: number, account: string, address: string): void {
      for (let i = 0; i < times; i += 1) throttle.failed(account, address);
    },
    /** Seconds to wait; 0 when an attempt is let through. */
    blocked(account: string, address: string): number {
      try {
        throttle.check(account, address);
        return 0;
      } catch (error) {
        if (!isPlatformError(error, 'auth.throttled')) throw error;
        return Number(error.details['retryAfterSeconds']);
      }
    },
  };
}

describe('the throttle', () => {
  it('lets a few mistakes pass, then backs off further and further, but never for more than a minute', () => {
    const { fail, blocked, wait } = fixture();
    fail(4, 'ann', HERE);
    expect(blocked('ann', HERE)).toBe(0);
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map(() => {
      fail(1, 'ann', HERE);
      const seconds = blocked('ann', HERE);
      wait(seconds);
      expect(blocked('ann', HERE)).toBe(0);
      return seconds;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('forgets after a quarter of an hour, and at once after a success', () => {
    const { throttle, fail, blocked, wait } = fixture();
    fail(6, 'ann', HERE);
    wait(16 * 60);
    fail(1, 'ann', HERE);
    expect(blocked('ann', HERE)).toBe(0);
    fail(4, 'ann', HERE);
    expect(blocked('ann', HERE)).toBeGreaterThan(0);
    throttle.succeeded('ann', HERE);
    expect(blocked('ann', HERE)).toBe(0);
  });

  it('holds nobody for as long as a clock was ahead that is set back', () => {
    const { blocked, fail, wait } = fixture();
    fail(8, 'ann', HERE);
    expect(blocked('ann', HERE)).toBeGreaterThan(0);
    wait(-3_600);
    expect(blocked('ann', HERE)).toBe(0);
  });

  it('slows down an address that tries many accounts, and an account tried from many addresses', () => {
    const { fail, blocked } = fixture();
    for (let i = 0; i < 30; i += 1) fail(1, `user${i}`, HERE);
    expect(blocked('another', HERE)).toBeGreaterThan(0);
    expect(blocked('another', ELSEWHERE)).toBe(0);
    for (let i = 0; i < 30; i += 1) fail(1, 'bob', `10.1.0.${i}`);
    expect(blocked('bob', ELSEWHERE)).toBeGreaterThan(0);
  });

  it('never keeps out the owner who has logged in from the same address before', () => {
    const { throttle, fail, blocked } = fixture();
    throttle.succeeded('ann', HERE);
    for (let i = 0; i < 200; i += 1) {
      fail(1, 'ann', `10.2.0.${i}`);
      fail(1, `user${i}`, HERE);
    }
    expect(blocked('ann', HERE)).toBe(0);
    expect(blocked('ann', ELSEWHERE)).toBeGreaterThan(0);
    expect(blocked('stranger', HERE)).toBeGreaterThan(0);
  });

  it('keeps a bounded number of counters', () => {
    const { fail, blocked } = fixture();
    fail(5, 'ann', HERE);
    expect(blocked('ann', HERE)).toBeGreaterThan(0);
    for (let i = 0; i < 20_001; i += 1) fail(1, `u${i}`, `a${i}`);
    expect(blocked('ann', HERE)).toBe(0);
  });
});

describe('networkOf', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['unix', 'unix'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
  ])('%s stands for %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('counts what other controls report, of its own kind, and reports it to them', () => {
    const time = Date.parse('2024-01-01T00:00:00Z');
    const listeners: ((subject: string | null) => void)[][] = [[], []];
    /** Two controls: each is heard by the other one. */
    const news = [0, 1].map((own) => ({
      publish: (_: string, subject: string) => (listeners[1 - own] ?? []).forEach((listener) => listener(subject)),
      on: (_: string, listener: (subject: string | null) => void) => void listeners[own]?.push(listener),
      close: async () => {},
    }));
    const [one, two] = news.map((own) => new Throttle(() => new Date(time), own));
    const letters = new Throttle(() => new Date(time), news[1], 'Too many letters.');
    for (let i = 0; i < 5; i += 1) (i % 2 === 0 ? one : two)?.failed('ann', HERE);
    expect(() => one?.check('ann', HERE)).toThrow('Too many failed attempts');
    expect(() => two?.check('ann', HERE)).toThrow('Too many failed attempts');
    expect(() => letters.check('ann', HERE)).not.toThrow();
    const late = new Throttle(() => new Date(time), news[1]);
    expect(() => late.check('ann', HERE)).toThrow('Too many failed attempts');
    expect(() => late.check('bob', HERE)).not.toThrow();
    one?.succeeded('ann', HERE);
    expect(() => two?.check('ann', HERE)).not.toThrow();
  });
});
