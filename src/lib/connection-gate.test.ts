import { describe, expect, it } from 'vitest';
import { ConnectionGate, openFilesLimit } from './connection-gate.ts';

/** A connection as a listener sees it: closing it makes it leave later, or at once. */
class Fake {
  isWaiting = true;
  isLasting = false;
  closed = false;
  leave: () => void = () => {};

  close(): void {
    this.closed = true;
    this.isWaiting = false;
    this.isLasting = false;
    this.leave();
  }
}

function gateOf(most: number, mostPerAddress: number) {
  const gate = new ConnectionGate({ most, mostPerAddress });
  return (address: string | null, isWaiting = true): Fake | null => {
    const connection = new Fake();
    connection.isWaiting = isWaiting;
    const leave = gate.enter(address, connection);
    if (leave === null) return null;
    connection.leave = leave;
    return connection;
  };
}

describe('a connection gate', () => {
  it('lets the oldest that waits make room for another of its address', () => {
    const enter = gateOf(100, 2);
    const [busy, oldest] = [enter('192.0.2.1', false), enter('192.0.2.1')];
    expect(enter('192.0.2.1', false)).not.toBeNull();
    expect([busy?.closed, oldest?.closed]).toEqual([false, true]);
    expect(enter('192.0.2.1')).toBeNull();
    expect(enter('192.0.2.2')).not.toBeNull();
    busy?.leave();
    expect(enter('::ffff:192.0.2.1')).not.toBeNull();
  });

  it('takes the room from whoever has most, and never from who is busy', () => {
    const enter = gateOf(50, 40);
    const others = Array.from({ length: 10 }, (_, n) => enter(`192.0.2.${n}`));
    const flood = Array.from({ length: 40 }, () => enter('198.51.100.1'));
    const late = enter('203.0.113.1', false);
    expect(late).not.toBeNull();
    expect(others.some((connection) => connection?.closed)).toBe(false);
    expect(flood.filter((connection) => connection?.closed)).toHaveLength(32);
    expect(flood[39]?.closed).toBe(false);
    const full = gateOf(2, 2);
    expect([full('192.0.2.1', false), full('192.0.2.2', false), full('192.0.2.3')].map((one) => one !== null)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('has one of the address with most make room where all last, and none where the one who asks has as many', () => {
    const enter = gateOf(6, 6);
    const lasting = (address: string): Fake | null => {
      const one = enter(address, false);
      if (one !== null) one.isLasting = true;
      return one;
    };
    const crowd = Array.from({ length: 4 }, () => lasting('198.51.100.1'));
    const others = [lasting('192.0.2.1'), lasting('192.0.2.2')];
    expect(lasting('198.51.100.1')).toBeNull();
    expect(lasting('203.0.113.1')).not.toBeNull();
    expect(crowd.map((connection) => connection?.closed)).toEqual([true, false, false, false]);
    expect(lasting('203.0.113.1')).not.toBeNull();
    expect(lasting('203.0.113.1')).toBeNull();
    expect(others.some((connection) => connection?.closed)).toBe(false);
  });

  it('counts the addresses of one IPv6 network together, and those of trusted proxies not at all', () => {
    const enter = gateOf(4, 1);
    const first = enter('2001:db8::1');
    expect(enter('2001:db8::2')).not.toBeNull();
    expect(first?.closed).toBe(true);
    const trusted = [enter(null), enter(null), enter(null)];
    expect(trusted).not.toContain(null);
    // The one that waits makes room; a trusted one never does.
    expect(enter(null)).not.toBeNull();
    expect(enter(null)).toBeNull();
    expect(trusted.some((connection) => connection?.closed)).toBe(false);
  });

  it('counts one that leaves twice once', () => {
    const enter = gateOf(1, 1);
    const first = enter('192.0.2.1', false);
    first?.leave();
    first?.leave();
    expect(enter('192.0.2.1', false)).not.toBeNull();
    expect(enter('192.0.2.1', false)).toBeNull();
  });
});

it('the system says how many files may be open', () => {
  expect(openFilesLimit()).toBeGreaterThan(100);
});
