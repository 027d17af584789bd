import { describe, expect, it } from 'vitest';
import { holderOf } from '../apps/host-name-holder.ts';
import type { UserCaller } from '../caller.ts';
import { HostNameProof } from './host-name-proof.ts';
import type { NameLookup } from './name-lookup.ts';

const ANN: UserCaller = {
  kind: 'user',
  email: 'ann@example.com',
  isAdmin: false,
  teams: ['crew'],
  via: 'session',
  tokenHash: '',
  address: '',
};
const APP = { teamOwner: 'crew' };

function proof(
  records: Readonly<Record<string, readonly string[]>>,
  here: readonly string[] = [],
  required = true,
): HostNameProof {
  const lookup = {
    txt: async (name: string) => {
      const value = records[name];
      return value === undefined ? ({ kind: 'none' } as const) : ({ kind: 'found', value } as const);
    },
  } as Pick<NameLookup, 'txt'> as NameLookup;
  const looks = { answersHere: async (name: string) => here.includes(name) };
  return new HostNameProof({ lookup, looks, domain: 'apps.example.com', publicAddress: () => '203.0.113.5', required });
}

describe('a host name', () => {
  it('is proven by where it leads, or by a record of the team at it or above it', async () => {
    const value = ['team=crew platform=apps.example.com'];
    await proof({}, ['www.shop.test']).demand(ANN, APP, ['www.shop.test']);
    await proof({ '_tancho.www.shop.test': value }).demand(ANN, APP, ['www.shop.test']);
    await proof({ '_tancho.shop.test': value }).demand(ANN, APP, ['a.b.shop.test', '*.shop.test']);
  });

  it.each([
    ['nothing', {}, []],
    ['the record of another team', { '_tancho.www.shop.test': ['team=others platform=apps.example.com'] }, []],
    ['the record of another platform', { '_tancho.www.shop.test': ['team=crew platform=apps.example.org'] }, []],
    ['a record of the whole top-level domain', { '_tancho.test': ['team=crew platform=apps.example.com'] }, []],
    ['another name that leads here', {}, ['other.shop.test']],
  ])('is not proven by %s', async (_, records, here) => {
    await expect(proof(records, here).demand(ANN, APP, ['www.shop.test'])).rejects.toMatchObject({
      code: 'cname.unproven',
      hint: expect.stringMatching(
        /203\.0\.113\.5.*_tancho\.www\.shop\.test.*"team=crew platform=apps\.example\.com"/,
      ) as string,
    });
  });

  it('is proven by a record only where it is a wildcard', async () => {
    const failed = proof({}, ['*.shop.test', 'shop.test']).demand(ANN, APP, ['*.shop.test']);
    await expect(failed).rejects.toMatchObject({
      code: 'cname.unproven',
      hint: expect.stringMatching(/^Add the TXT record _tancho\.shop\.test/) as string,
    });
  });

  it('needs no proof of admins, and none where that is not required', async () => {
    await proof({}).demand({ ...ANN, isAdmin: true }, APP, ['www.shop.test']);
    await proof({}, [], false).demand(ANN, APP, ['www.shop.test']);
  });
});

describe('a name of another team', () => {
  const apps = [
    { name: 'theirs', teamOwner: 'others', cname: ['www.theirs.test', '*.wild.test'] },
    { name: 'ours', teamOwner: 'crew', cname: ['www.ours.test'] },
  ];
  const held = (name: string) => holderOf(apps, { name: 'new', teamOwner: 'crew', cname: [] }, [name])?.held ?? null;

  it.each([
    ['www.theirs.test', 'www.theirs.test'],
    ['a.www.theirs.test', 'www.theirs.test'],
    ['*.www.theirs.test', 'www.theirs.test'],
    ['theirs.test', 'www.theirs.test'],
    ['*.theirs.test', 'www.theirs.test'],
    ['a.wild.test', '*.wild.test'],
    ['wild.test', '*.wild.test'],
    ['api.theirs.test', null],
    ['notwww.theirs.test', null],
    ['a.www.ours.test', null],
    ['ours.test', null],
  ])('holds %s: %s', (name, holder) => {
    expect(held(name)).toBe(holder);
  });
});
