import { afterEach, expect, it } from 'vitest';
import { type CertificateWorld, certificateWorld, DAY_MS, HOUR_MS } from '../support/certificate-world.ts';
import { IssueFailure } from '../../src/domain/certificates/authority.ts';
import { rounds } from '../support/rounds.ts';

/** Domains of one app; its name below that of the platform is one more. */
const DOMAINS = rounds(3, 12);
const CERTIFICATES = DOMAINS + 1;

let current: CertificateWorld | null = null;
afterEach(() => current?.dispose());

it('a renewal is never missed in a year of 45-day certificates with an authority that fails one in five and is away for 48 hours', async () => {
  const world = (current = await certificateWorld({ dns: { set: async () => {}, remove: async () => {} } }));
  await world.addApps('shop');
  const cname = Array.from({ length: DOMAINS }, (_, n) => `www${n}.example.com`);
  await world.store.transact((tx) => tx.updateApp('shop', { cname }));
  let asked = 0;
  const begun = world.now().getTime();
  world.authority.fault = () => {
    const hours = (world.now().getTime() - begun) / HOUR_MS;
    // Away when the first renewals are due, and once more later.
    const isAway = (hours >= 29 * 24 && hours < 31 * 24) || (hours >= 200 * 24 && hours < 202 * 24);
    return isAway || ++asked % 5 === 0 ? new IssueFailure('authority_away', 'away') : null;
  };
  await world.upkeep.round();
  const moments = { looked: 0, missing: 0, expired: 0 };
  while (world.now().getTime() < begun + 365 * DAY_MS) {
    const dues = (await world.store.certificates()).map(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? ''));
    const next = Math.min(...dues) - world.now().getTime();
    world.pass(Math.min(Math.max(next, 60_000), 12 * HOUR_MS));
    const records = new Map((await world.store.certificates()).map((record) => [record.id, record]));
    const shown = world.set().certificates;
    moments.looked += 1;
    moments.expired += shown.filter(
      ({ id }) => Date.parse(records.get(id)?.notAfter ?? '') <= world.now().getTime(),
    ).length;
    if (world.now().getTime() > begun + DAY_MS) moments.missing += CERTIFICATES - shown.length;
    await world.upkeep.round();
  }
  expect(moments.looked).toBeGreaterThan(100);
  expect(moments).toMatchObject({ missing: 0, expired: 0 });
  expect(world.authority.issued).toBeGreaterThan(CERTIFICATES * 10);
  expect(world.authority.issued).toBeLessThan(CERTIFICATES * 16);
});
