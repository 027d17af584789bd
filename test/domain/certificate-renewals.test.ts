/** When certificates are renewed, and what that holds up. */
import { afterEach, expect, it } from 'vitest';
import { IssueFailure, type IssueRequest } from '../../src/domain/certificates/authority.ts';
import type { CertificateRecord } from '../../src/domain/certificates/certificate.ts';
import {
  type CertificateWorld,
  certificateWorld,
  DAY_MS,
  HOUR_MS,
  type WorldOptions,
} from '../support/certificate-world.ts';
import { until } from '../support/until.ts';

const worlds: CertificateWorld[] = [];
afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.dispose()));
});

async function start(options: WorldOptions = {}): Promise<CertificateWorld> {
  const world = await certificateWorld(options);
  worlds.push(world);
  return world;
}

const DNS = { set: async () => {}, remove: async () => {} };
const only = async ({ store }: CertificateWorld): Promise<CertificateRecord> => {
  const [record, ...others] = await store.certificates();
  if (record === undefined || others.length > 0) throw new Error(`${others.length + 1} records`);
  return record;
};
it('a renewal comes when the authority suggests it, and at the latest with 15 % of the life left', async () => {
  const world = await start({ dns: DNS });
  const begun = world.now().getTime();
  const soon = { start: new Date(begun + 3 * DAY_MS), end: new Date(begun + 4 * DAY_MS) };
  world.authority.suggests = soon;
  await world.upkeep.round();
  await world.upkeep.round();
  const planned = Date.parse((await only(world)).nextAttemptAt ?? '');
  expect(planned).toBeGreaterThanOrEqual(soon.start.getTime());
  expect(planned).toBeLessThanOrEqual(soon.end.getTime());
  world.pass(7 * HOUR_MS);
  await world.upkeep.round();
  expect(Date.parse((await only(world)).nextAttemptAt ?? '')).toBe(planned);
  world.authority.suggests = { start: new Date(begun + 400 * DAY_MS), end: new Date(begun + 401 * DAY_MS) };
  world.pass(7 * HOUR_MS);
  await world.upkeep.round();
  expect(Date.parse((await only(world)).nextAttemptAt ?? '')).toBeLessThan(begun + 39 * DAY_MS);
  world.authority.suggests = { start: new Date(begun), end: new Date(begun + 1) };
  world.pass(7 * HOUR_MS);
  await world.upkeep.round();
  await world.upkeep.round();
  expect(world.authority.orders.size).toBe(2);
});

it('a renewal of an authority that is away is asked about after all new names, and for a few certificates in a round', async () => {
  const asked: string[] = [];
  const world = await start({
    wildcard: false,
    authorities: (first) => [
      {
        ...first.authority(),
        renewalWindow: async () => {
          asked.push('window');
          throw new IssueFailure('authority_away', 'away');
        },
      },
    ],
  });
  world.authority.fault = ({ names }) => {
    asked.push(...names);
    return null;
  };
  await world.addApps(...Array.from({ length: 20 }, (_, n) => `app${n}`));
  await world.upkeep.round();
  world.pass(7 * HOUR_MS);
  await world.addApps('late');
  asked.length = 0;
  await world.upkeep.round();
  expect(asked[0]).toBe('late.apps.example.com');
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.length).toBeLessThan(10);
});

it('a renewal that is asked about, or under way because somebody wants it, keeps no server from stopping', async () => {
  const asked: string[] = [];
  const isOver = Promise.withResolvers<never>();
  const silent = (what: string, signal: AbortSignal): Promise<never> => {
    asked.push(what);
    signal.addEventListener('abort', () => isOver.reject(new IssueFailure('authority_away', 'stopped')));
    return isOver.promise;
  };
  const world = await start({ dns: DNS });
  await world.upkeep.round();
  const { id } = await only(world);
  const issue = ({ signal }: IssueRequest) => silent('issue', signal);
  const renewalWindow = (_chain: string, signal: AbortSignal) => silent('window', signal);
  const { upkeep } = world.again({ authorities: (first) => [{ ...first.authority(), issue, renewalWindow }] });
  world.pass(7 * HOUR_MS);
  upkeep.start();
  await until(() => asked.includes('window'), { what: 'the question' });
  const renewed = upkeep.attempt(id);
  await until(() => asked.includes('issue'), { what: 'the order' });
  await upkeep.close();
  await renewed;
  expect(await only(world)).toMatchObject({ failures: 0, problem: '' });
});

it('a renewal that fails goes on presenting what there is, until it expires', async () => {
  const world = await start({ dns: DNS });
  await world.upkeep.round();
  const [before] = world.set().certificates;
  world.authority.fault = () => new IssueFailure('authority_away', 'away');
  for (let day = 0; day < 44; day++) {
    world.pass(DAY_MS);
    await world.upkeep.round();
    expect(world.set().certificates).toEqual([before]);
  }
  expect((await only(world)).failures).toBeGreaterThan(5);
  world.pass(2 * DAY_MS);
  await world.upkeep.round();
  expect(world.set().certificates).toEqual([]);
});
