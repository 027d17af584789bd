import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimRange, clearAbandoned, freePools, releaseRange } from './range-claims.ts';

let directory: string;
let claims: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tancho-claims-'));
  claims = join(directory, 'claims');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function home(name: string): string {
  const path = join(directory, name);
  mkdirSync(path, { recursive: true });
  return path;
}

it('gives each home a range of its own, and the same one again', () => {
  const first = claimRange({ scope: '00000001', stateDir: home('a') }, [], claims);
  // Would begin at the same place.
  const second = claimRange({ scope: '00000401', stateDir: home('b') }, [], claims);
  expect([first, second]).toEqual(['100.64.16.0', '100.64.32.0']);
  expect(claimRange({ scope: '00000401', stateDir: home('b') }, [], claims)).toBe(second);
  expect(readdirSync(claims).sort()).toEqual([first, second]);
});

it('gives a range back', () => {
  claimRange({ scope: '00000001', stateDir: home('a') }, [], claims);
  releaseRange('00000001', claims);
  expect(readdirSync(claims)).toEqual([]);
});

it('stays away from what the machine has routes to, but for those of homes', () => {
  const route = { dst: '100.100.100.100', dev: 'tailscale0' };
  expect(freePools([{ dst: 'default' }, route])).toEqual(['10.128.0.0/9']);
  expect(freePools([{ dst: '100.64.16.0/20', dev: 'tnc-00000001' }])).toHaveLength(2);
  expect(() =>
    claimRange({ scope: '00000001', stateDir: home('a') }, [route, { dst: '10.200.0.0/16' }], claims),
  ).toThrow(/no range of addresses is free/);
});

it('clears up after homes that are gone, once, and after no others', async () => {
  claimRange({ scope: '00000001', stateDir: home('a') }, [], claims);
  claimRange({ scope: '00000002', stateDir: home('b') }, [], claims);
  rmSync(join(directory, 'a'), { recursive: true });
  const removed: string[] = [];
  const remove = async (scope: string): Promise<void> => void removed.push(scope);
  expect(await clearAbandoned(() => Promise.reject(new Error('busy')), claims)).toEqual([]);
  expect(await clearAbandoned(remove, claims)).toEqual(['00000001']);
  expect(await clearAbandoned(remove, claims)).toEqual([]);
  expect(removed).toEqual(['00000001']);
  expect(readdirSync(claims)).toEqual(['100.64.32.0']);
  expect(existsSync(join(directory, 'b'))).toBe(true);
});
