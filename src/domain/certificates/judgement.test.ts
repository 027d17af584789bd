import { expect, it } from 'vitest';
import type { CertificateAuthority } from './authority.ts';
import type { Cause } from './cause.ts';
import { NameLooks } from './name-looks.ts';
import type { CaaRecord, LookupResult, HttpLook } from './name-lookup.ts';

const OURS = '203.0.113.5';
const OURS6 = '2001:db8::5';
const ELSEWHERE = '198.51.100.7';
const ELSEWHERE6 = '2001:db8:ffff::7';
const NAME = 'www.example.com';
const PERSIST = 'ca.test; accounturi=https://ca.test/1; policy=wildcard';

/** How the world looks around one name. */
interface World {
  readonly name?: string;
  readonly ipv4?: readonly string[];
  readonly ipv6?: readonly string[];
  readonly dns?: 'none' | 'failed';
  /** Records by the name that has them. */
  readonly caa?: Readonly<Record<string, readonly CaaRecord[] | 'failed'>>;
  readonly txt?: readonly string[] | 'failed';
  /** What answers on port 80, by address: us, another server by its name, or nothing (why not). */
  readonly http?: Readonly<Record<string, 'us' | { readonly server: string } | { readonly why: string }>>;
  readonly tls?: readonly string[];
  /** Addresses that this machine has itself. */
  readonly own?: readonly string[];
  readonly privateAuthority?: true;
  readonly dnsCommand?: true;
  readonly noPersist?: true;
}

const closed = { why: 'takes no connection' };
const issue = (issuer: string, tag = 'issue'): CaaRecord => ({ tag, issuer });

const FIXTURES: readonly (readonly [what: string, world: World, cause: Cause | null])[] = [
  ['leads here', {}, null],
  ['leads here by both families', { ipv6: [OURS6], http: { [OURS]: 'us', [OURS6]: 'us' }, own: [OURS, OURS6] }, null],
  ['leads here by IPv6 only', { ipv4: [], ipv6: [OURS6], http: { [OURS6]: 'us' }, own: [OURS6] }, null],
  ['has no record', { dns: 'none' }, 'no_address'],
  ['a name of an app has no record', { name: 'shop.apps.example.com', dns: 'none' }, 'no_address'],
  ['has name servers that do not answer', { dns: 'failed' }, 'dns_failed'],
  ['leads to another server', { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: { server: 'nginx' } } }, 'leads_elsewhere'],
  ['leads to a server without a name', { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: { server: '' } } }, 'leads_elsewhere'],
  [
    'leads to an address where nothing answers',
    { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: closed } },
    'leads_elsewhere',
  ],
  [
    'leads to a parking page',
    { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: { server: 'Parking/1.0' } } },
    'leads_elsewhere',
  ],
  [
    'leads to here and elsewhere',
    { ipv4: [OURS, ELSEWHERE], http: { [OURS]: 'us', [ELSEWHERE]: { server: 'Apache' } } },
    'leads_elsewhere',
  ],
  [
    'has an AAAA record of another server',
    { ipv6: [ELSEWHERE6], http: { [OURS]: 'us', [ELSEWHERE6]: { server: 'nginx' } } },
    'ipv6_elsewhere',
  ],
  [
    'has an AAAA record where nothing answers',
    { ipv6: [ELSEWHERE6], http: { [OURS]: 'us', [ELSEWHERE6]: closed } },
    'ipv6_elsewhere',
  ],
  [
    'has only an AAAA record, of another server',
    { ipv4: [], ipv6: [ELSEWHERE6], http: { [ELSEWHERE6]: { server: 'nginx' } } },
    'ipv6_elsewhere',
  ],
  [
    'has an AAAA record of the provider it came from',
    { ipv6: [ELSEWHERE6], http: { [OURS]: 'us', [ELSEWHERE6]: { why: 'does not answer in time' } } },
    'ipv6_elsewhere',
  ],
  [
    'is proxied by Cloudflare, which does not pass on',
    { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: { server: 'cloudflare' } } },
    'proxied',
  ],
  ['is proxied by CloudFront', { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: { server: 'CloudFront' } } }, 'proxied'],
  [
    'is proxied by Fastly over IPv6',
    { ipv4: [], ipv6: [ELSEWHERE6], http: { [ELSEWHERE6]: { server: 'Fastly' } } },
    'proxied',
  ],
  [
    'is proxied by both families',
    {
      ipv4: [ELSEWHERE],
      ipv6: [ELSEWHERE6],
      http: { [ELSEWHERE]: { server: 'cloudflare' }, [ELSEWHERE6]: { server: 'cloudflare' } },
    },
    'proxied',
  ],
  ['is proxied and passed on', { ipv4: [ELSEWHERE], http: { [ELSEWHERE]: 'us' } }, null],
  [
    'is behind a balancer of ours with another address',
    { ipv4: [ELSEWHERE], ipv6: [ELSEWHERE6], http: { [ELSEWHERE]: 'us', [ELSEWHERE6]: 'us' } },
    null,
  ],
  ['has closed ports', { http: { [OURS]: closed } }, 'port_closed'],
  ['has a firewall that drops', { http: { [OURS]: { why: 'does not answer in time' } } }, 'port_closed'],
  ['has port 80 closed and port 443 open', { http: { [OURS]: closed }, tls: [OURS] }, null],
  [
    'has port 80 open by IPv4 only',
    { ipv6: [OURS6], http: { [OURS]: 'us', [OURS6]: closed }, own: [OURS, OURS6] },
    'port_closed',
  ],
  ['is behind a router that leads nothing back inside', { http: { [OURS]: closed }, own: ['10.0.0.5'] }, null],
  ['has another web server on port 80', { http: { [OURS]: { server: 'Apache/2.4' } } }, 'other_server'],
  ['has a web server without a name on port 80', { http: { [OURS]: { server: '' } } }, 'other_server'],
  ['has CAA records for another authority', { caa: { [NAME]: [issue('other.test')] } }, 'caa_forbids'],
  ['has CAA records above it', { caa: { 'example.com': [issue('other.test')] } }, 'caa_forbids'],
  ['has CAA records that forbid everybody', { caa: { [NAME]: [issue('')] } }, 'caa_forbids'],
  [
    'has CAA records for us, and others above',
    { caa: { [NAME]: [issue('CA.test')], 'example.com': [issue('other.test')] } },
    null,
  ],
  ['has CAA records of mail only', { caa: { [NAME]: [issue('mailto:a@example.com', 'iodef')] } }, null],
  ['has CAA records that cannot be asked for', { caa: { [NAME]: 'failed' } }, 'dns_failed'],
  ['is a name of a private network', { name: 'shop.intern.lan' }, 'not_public'],
  ['is a name of this machine', { name: 'shop.localhost' }, 'not_public'],
  ['is a single label', { name: 'intranet' }, 'not_public'],
  ['is private, for an authority of ours', { name: 'shop.intern.lan', privateAuthority: true }, null],
  ['is a wildcard without a record', { name: '*.apps.example.com' }, 'persist_record_missing'],
  [
    'is a wildcard with the record of another account',
    { name: '*.apps.example.com', txt: ['ca.test; accounturi=https://ca.test/2; policy=wildcard'] },
    'persist_record_missing',
  ],
  ['is a wildcard with its record', { name: '*.apps.example.com', txt: ['v=spf1 -all', PERSIST] }, null],
  ['is a wildcard whose name servers fail', { name: '*.apps.example.com', txt: 'failed' }, 'dns_failed'],
  [
    'is a wildcard with CAA records against wildcards',
    {
      name: '*.apps.example.com',
      caa: { 'example.com': [issue('ca.test'), issue('', 'issuewild')] },
      dnsCommand: true,
    },
    'caa_forbids',
  ],
  ['is a wildcard for a command', { name: '*.apps.example.com', dnsCommand: true }, null],
  [
    'is a wildcard at an authority without such records',
    { name: '*.apps.example.com', noPersist: true },
    'wildcard_needs_dns',
  ],
];

function looksIn(world: World): { readonly looks: NameLooks; readonly authority: CertificateAuthority } {
  const { ipv4 = [OURS], ipv6 = [], http = { [OURS]: 'us' }, own = [OURS] } = world;
  let answer = '';
  const failed: LookupResult<never> = { kind: 'failed', why: 'they do not answer' };
  const looks = new NameLooks({
    enabled: true,
    publicAddress: () => OURS,
    presenter: {
      async present(challenge) {
        if (challenge.kind === 'http-01') answer = challenge.answer;
        return async () => {
          answer = '';
        };
      },
    },
    lookup: {
      async addresses() {
        if (world.dns === 'failed') return failed;
        return world.dns === 'none' ? { kind: 'none' } : { kind: 'found', value: { ipv4, ipv6 } };
      },
      async caa(name) {
        const found = world.caa?.[name];
        if (found === 'failed') return failed;
        return found === undefined ? { kind: 'none' } : { kind: 'found', value: found };
      },
      async txt() {
        if (world.txt === 'failed') return failed;
        return world.txt === undefined ? { kind: 'none' } : { kind: 'found', value: world.txt };
      },
      async ask(address): Promise<HttpLook> {
        const found = http[address] ?? closed;
        if (found === 'us') return { kind: 'answered', status: 200, body: answer, server: '' };
        return 'why' in found
          ? { kind: 'unreachable', why: found.why }
          : { kind: 'answered', status: 404, body: 'Hello', server: found.server };
      },
      takesTls: async (address) => world.tls?.includes(address) ?? false,
      ownAddresses: () => own,
    },
  });
  const authority: CertificateAuthority = {
    name: 'ca.test',
    looksAtNames: true,
    isPublic: world.privateAuthority !== true,
    issue: () => Promise.reject(new Error('nobody asked for it')),
    renewalWindow: async () => null,
    persistRecord: async (domain) =>
      world.noPersist ? null : { record: `_validation-persist.${domain}`, value: PERSIST },
    caaNames: async () => ['ca.test'],
    root: async () => null,
    close: async () => {},
  };
  return { looks, authority };
}

it.each(FIXTURES)('a name that %s', async (_, world, cause) => {
  const { looks, authority } = looksIn(world);
  const wanted = world.dnsCommand
    ? (['dns-01'] as const)
    : world.name?.startsWith('*.')
      ? (['dns-persist-01'] as const)
      : (['http-01', 'tls-alpn-01'] as const);
  const name = world.name ?? NAME;
  const judged = await looks.judgementOf(name, authority, wanted, new AbortController().signal);
  expect(judged.cause, judged.problem).toBe(cause);
  if (cause === null) expect(judged.challenges.length).toBeGreaterThan(0);
  else expect(judged.problem).toMatch(new RegExp(`${name.replace('*.', '').replaceAll('.', '\\.')}.*\\.?$`));
});

it('there are at least 40 of them, and every cause that can be seen from here has one', () => {
  expect(FIXTURES.length).toBeGreaterThanOrEqual(40);
  expect(new Set(FIXTURES.map(([, , cause]) => cause)).size).toBe(12);
});

it('only those challenges are tried that can succeed', async () => {
  const challengesOf = async (world: World) => {
    const { looks, authority } = looksIn(world);
    return looks.forIssuance([NAME], authority, ['http-01', 'tls-alpn-01'], new AbortController().signal);
  };
  expect(await challengesOf({})).toEqual(['http-01', 'tls-alpn-01']);
  expect(await challengesOf({ ipv4: [ELSEWHERE], http: { [ELSEWHERE]: 'us' } })).toEqual(['http-01']);
  expect(await challengesOf({ http: { [OURS]: closed }, tls: [OURS] })).toEqual(['tls-alpn-01']);
});
