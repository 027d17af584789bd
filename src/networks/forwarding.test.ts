import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ForwardingPlaces, forward, takeForwardingBack } from './forwarding.ts';
import { claimRange, releaseRange } from './range-claims.ts';

let root: string;
let places: ForwardingPlaces;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tancho-forwarding-'));
  places = { claims: join(root, 'claims'), settings: join(root, 'conf') };
  for (const [dev, value] of [
    ['eth0', '0'],
    ['docker0', '1'],
    ['lo', '0'],
    ['tnc-1', '0'],
  ] as const) {
    mkdirSync(join(places.settings, dev), { recursive: true });
    writeFileSync(join(places.settings, dev, 'forwarding'), `${value}\n`);
  }
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const ROUTES = ['eth0', 'docker0', 'lo', 'tnc-1', 'gone0', 'eth0'].map((dev) => ({ dev, dst: 'default' }));
const values = () =>
  ['eth0', 'docker0', 'lo', 'tnc-1'].map((dev) =>
    readFileSync(join(places.settings, dev, 'forwarding'), 'utf8').trim(),
  );

it('is switched on where it was off, and off again there with the last home', () => {
  claimRange({ scope: '00000001', stateDir: root }, [], places.claims);
  claimRange({ scope: '00000002', stateDir: root }, [], places.claims);
  forward(ROUTES, places);
  expect(values()).toEqual(['1', '1', '0', '0']);
  // The second home finds it as it is to be.
  forward(ROUTES, places);
  releaseRange('00000001', places.claims);
  takeForwardingBack(places);
  expect(values()).toEqual(['1', '1', '0', '0']);
  releaseRange('00000002', places.claims);
  takeForwardingBack(places);
  expect(values()).toEqual(['0', '1', '0', '0']);
});

it('what somebody else switches on afterwards stays', () => {
  forward(ROUTES, places);
  takeForwardingBack(places);
  writeFileSync(join(places.settings, 'eth0', 'forwarding'), '1');
  takeForwardingBack(places);
  expect(values()[0]).toBe('1');
});
