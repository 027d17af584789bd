import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Tenants, uidRange } from './tenants.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-tenants-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const range = { from: 100, to: 102 };

describe('tenants', () => {
  it('gives each tenant a uid of its own and remembers it', () => {
    const tenants = new Tenants(directory, range);
    expect([tenants.uid('a'), tenants.uid('b'), tenants.uid('a')]).toEqual([100, 101, 100]);
    expect(new Tenants(directory, range).uid('b')).toBe(101);
  });

  it('gives a uid only when it is written down', () => {
    const tenants = new Tenants(directory, range);
    const inTheWay = join(directory, 'tenants.json.new');
    mkdirSync(inTheWay);
    for (const _ of [1, 2]) expect(() => tenants.uid('a')).toThrow();
    expect(tenants.known('a')).toBe(null);
    rmSync(inTheWay, { recursive: true });
    expect([tenants.uid('b'), tenants.uid('a')]).toEqual([100, 101]);
    mkdirSync(inTheWay);
    expect(() => tenants.forget('a')).toThrow();
    expect(() => tenants.setAside('a')).toThrow();
    expect([tenants.known('a'), tenants.aside()]).toEqual([101, []]);
  });

  it('does not take names of the language for tenants', () => {
    expect(new Tenants(directory, range).uid('constructor')).toBe(100);
  });

  it('gives a uid to another tenant only after it was given back, and late', () => {
    const tenants = new Tenants(directory, range);
    tenants.uid('a');
    tenants.uid('b');
    tenants.forget('a');
    expect(tenants.uid('c')).toBe(102);
    expect(tenants.uid('d')).toBe(100);
    expect(() => tenants.uid('e')).toThrow('100-102');
  });

  it('gives a uid that was set aside to nobody, the same name included', () => {
    const tenants = new Tenants(directory, range);
    tenants.uid('a');
    tenants.setAside('a');
    expect([tenants.known('a'), tenants.uid('a'), tenants.uid('b')]).toEqual([null, 101, 102]);
    expect(() => tenants.uid('c')).toThrow('100-102');
    const again = new Tenants(directory, range);
    expect(again.aside()).toEqual([':left-100']);
    again.forget(':left-100');
    expect(again.uid('c')).toBe(100);
  });

  it('refuses to guess when its file is damaged', () => {
    writeFileSync(join(directory, 'tenants.json'), '{"format":2}');
    expect(() => new Tenants(directory, range)).toThrow('tenants.json');
  });
});

describe('uidRange', () => {
  it('takes the free range where all ids are mapped, a low one in small containers, none in single-id ones', () => {
    expect(uidRange('         0          0 4294967295\n')).toEqual({ from: 70_000, to: 89_999 });
    expect(uidRange('0 100000 65536\n')).toEqual({ from: 61_000, to: 64_999 });
    expect(uidRange('0 1000 1\n')).toBeNull();
  });
});
