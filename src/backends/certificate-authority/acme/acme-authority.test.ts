import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { AcmeServer, type AcmeServerOptions, Refusal } from '../../../../test/support/acme-server.ts';
import type { Challenge, ChallengeKind, IssueRequest } from '../../../domain/certificates/authority.ts';
import type { AuthorityIdentity, Identities } from '../../../domain/certificates/authority-identity.ts';
import { createAddressGuard } from '../../../lib/guarded/address-guard.ts';
import { factsOf, renewalId } from '../../../lib/x509/inspect.ts';
import { newKey } from '../../../lib/x509/names.ts';
import { certificatesIn } from '../../../lib/x509/pem.ts';
import { type AcmeOptions, createAcmeAuthority } from './acme-authority.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

function memoryIdentities(): Identities & { readonly kept: Map<string, AuthorityIdentity> } {
  const kept = new Map<string, AuthorityIdentity>();
  return {
    kept,
    identity: async (authority) => kept.get(authority) ?? null,
    async keepIdentity(identity) {
      const first = kept.get(identity.authority) ?? identity;
      kept.set(identity.authority, first);
      return first;
    },
    async setAccount(authority, account) {
      const known = kept.get(authority);
      if (known !== undefined) kept.set(authority, { ...known, account });
    },
  };
}

async function world(server: Partial<AcmeServerOptions> = {}, client: Partial<AcmeOptions> = {}) {
  const shown = new Map<string, Challenge>();
  const ca = await new AcmeServer({
    async look({ kind, name, keyAuthorization }) {
      const challenge = shown.get(name);
      if (challenge?.kind !== kind) return `${name} shows nothing`;
      return challenge.kind !== 'http-01' || challenge.answer === keyAuthorization ? '' : 'Invalid response';
    },
    ...server,
  }).start();
  closers.push(() => ca.close());
  const identities = memoryIdentities();
  const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: () => [] });
  const options = { directory: ca.directory, guard, roots: null, userAgent: 'test', now: () => new Date() };
  const open = () =>
    createAcmeAuthority({
      ...options,
      identities,
      email: 'ops@example.com',
      external: null,
      profile: '',
      pollMs: 8,
      ...client,
    });
  const orders: string[] = [];
  const key = newKey();
  const request = (names: readonly string[], more: Partial<IssueRequest> = {}): IssueRequest => ({
    names,
    key,
    order: null,
    onOrder: async (url) => void orders.push(url),
    challenges: ['http-01', 'dns-01'] as ChallengeKind[],
    async present(challenge) {
      shown.set(challenge.name, challenge);
      return async () => void shown.delete(challenge.name);
    },
    replaces: null,
    signal: new AbortController().signal,
    ...more,
  });
  return { ca, identities, authority: open(), open, request, orders, shown, key };
}

it('issues for several names, with one account, and takes every challenge away again', async () => {
  const { ca, authority, request, shown, key, identities, open } = await world();
  const chain = await authority.issue(request(['www.example.com', 'example.com']));
  expect(factsOf(chain).names).toEqual(['www.example.com', 'example.com']);
  expect(certificatesIn(chain)).toHaveLength(2);
  expect(new X509Certificate(chain).checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(shown.size).toBe(0);
  await open().issue(request(['other.example.com']));
  expect([ca.accountsMade(), identities.kept.size]).toEqual([1, 1]);
});

it.each([
  ['tls-alpn-01', 'www.example.com'],
  ['dns-01', '*.example.com'],
  ['dns-persist-01', '*.example.com'],
] as const)('proves by %s', async (kind, name) => {
  const { authority, request, shown } = await world();
  const seen: Challenge[] = [];
  const present = async (challenge: Challenge) => {
    seen.push(challenge);
    shown.set(challenge.name, challenge);
    return async () => {};
  };
  await authority.issue(request([name], { challenges: [kind], present }));
  expect(seen).toMatchObject([{ kind, name: name.replace('*.', '') }]);
  if (seen[0]?.kind === 'dns-01') expect(seen[0].record).toBe('_acme-challenge.example.com');
});

it('goes on when nonces are refused', async () => {
  const { ca, authority, request } = await world();
  ca.badNonces = 5;
  await authority.issue(request(['www.example.com']));
});

it('registers again with the same key after a crash that lost the account', async () => {
  const { ca, authority, identities, open, request } = await world();
  await authority.issue(request(['a.example.com']));
  await identities.setAccount(authority.name, '');
  await open().issue(request(['b.example.com']));
  expect(ca.accountsMade()).toBe(1);
});

it('makes its account again, with the same key, where the authority has forgotten it', async () => {
  const { ca, authority, identities, request } = await world();
  await authority.issue(request(['a.example.com']));
  const before = identities.kept.get(authority.name);
  ca.forgetAccounts();
  await Promise.all(['b.example.com', 'c.example.com'].map((name) => authority.issue(request([name]))));
  expect(ca.accountsMade()).toBe(1);
  const after = identities.kept.get(authority.name);
  expect(after?.key).toBe(before?.key);
  expect(after?.account).not.toBe(before?.account);
});

it('makes no account without end where the authority forgets each', async () => {
  const { ca, authority, request } = await world();
  ca.fault = (path) => (path === '/new-order' ? new Refusal(400, 'accountDoesNotExist', 'no such account') : null);
  await expect(authority.issue(request(['a.example.com']))).rejects.toMatchObject({ code: 'account_refused' });
});

it('binds its account to one elsewhere', async () => {
  const external = { kid: 'kid-1', secret: Buffer.from('a secret of theirs').toString('base64url') };
  const bound = await world({ external }, { external });
  await bound.authority.issue(bound.request(['www.example.com']));
  const unbound = await world({ external });
  await expect(unbound.authority.issue(unbound.request(['www.example.com']))).rejects.toMatchObject({
    code: 'account_refused',
  });
});

it('goes on with an order that a crash has left, wherever that was', async () => {
  for (const stop of ['/authz/', '/challenge/', '/finalize/', '/certificate/']) {
    const { ca, authority, open, request, orders } = await world();
    ca.fault = (path) => (path.startsWith(stop) ? new Refusal(503, 'serverInternal', 'away') : null);
    await expect(authority.issue(request(['www.example.com']))).rejects.toMatchObject({
      code: 'authority_away',
      goesOn: true,
    });
    ca.fault = () => null;
    await open().issue(request(['www.example.com'], { order: orders[0] ?? null }));
    expect(ca.orders, stop).toHaveLength(1);
  }
});

it('makes a new order in place of one that is over or unknown', async () => {
  const { ca, authority, request, orders } = await world();
  await expect(
    authority.issue(request(['www.example.com'], { present: async () => async () => {} })),
  ).rejects.toMatchObject({
    code: 'validation_failed',
    message: expect.stringContaining('shows nothing') as string,
  });
  await authority.issue(request(['www.example.com'], { order: orders[0] ?? null }));
  await authority.issue(request(['www.example.com'], { order: ca.directory.replace('directory', 'order/none') }));
  expect(ca.orders).toHaveLength(3);
});

it('says when a limit is over, and what is refused in the words of the authority', async () => {
  const { ca, authority, request } = await world();
  ca.fault = (path) =>
    path === '/new-order' ? new Refusal(429, 'rateLimited', 'too many certificates', '3600') : null;
  const failed = authority.issue(request(['www.example.com']));
  await expect(failed).rejects.toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('too many certificates') as string,
  });
  const { retryAt } = (await failed.catch((error: unknown) => error)) as { retryAt: Date };
  expect(retryAt.getTime() - Date.now()).toBeGreaterThan(3_500_000);
  ca.fault = (path) => (path === '/new-order' ? new Refusal(400, 'rejectedIdentifier', 'on our list\u0007') : null);
  await expect(authority.issue(request(['www.example.com']))).rejects.toMatchObject({
    code: 'authority_refuses',
    message: expect.stringMatching(/says: on our list $/) as string,
  });
  ca.fault = (path) => (path === '/new-order' ? new Refusal(403, 'caa', 'CAA record forbids') : null);
  await expect(authority.issue(request(['www.example.com']))).rejects.toMatchObject({ code: 'caa_forbids' });
});

it('asks for a profile that there is, and no other', async () => {
  const known = await world({ profiles: ['shortlived'] }, { profile: 'shortlived' });
  await known.authority.issue(known.request(['www.example.com']));
  const unknown = await world({ profiles: ['classic'] }, { profile: 'shortlived' });
  await expect(unknown.authority.issue(unknown.request(['www.example.com']))).rejects.toThrow('it has: classic');
});

it('reports the window of a renewal, and which certificate is replaced', async () => {
  const { ca, authority, request } = await world();
  const chain = await authority.issue(request(['www.example.com']));
  const window = await authority.renewalWindow(chain, new AbortController().signal);
  expect(window?.start.getTime()).toBeGreaterThan(Date.now() + 50 * 86_400_000);
  expect(window?.askAgainAt.getTime()).toBeGreaterThan(Date.now() + 5 * 3_600_000);
  await authority.issue(request(['www.example.com'], { replaces: chain }));
  expect(ca.replaced).toEqual([renewalId(chain)]);
});

it('knows the record that lets it issue for a whole domain', async () => {
  const { authority, identities } = await world();
  const record = await authority.persistRecord('apps.example.com', true, new AbortController().signal);
  const account = identities.kept.get(authority.name)?.account ?? '';
  expect(record).toEqual({
    record: '_validation-persist.apps.example.com',
    value: `ca.test; accounturi=${account}; policy=wildcard`,
  });
});

it('is away where nothing or something else answers', async () => {
  const { request, open, ca } = await world();
  await ca.close();
  await expect(open().issue(request(['www.example.com']))).rejects.toMatchObject({ code: 'authority_away' });
});

it('offers no wildcard without DNS', async () => {
  const { authority, request } = await world();
  await expect(authority.issue(request(['*.example.com'], { challenges: ['http-01'] }))).rejects.toMatchObject({
    code: 'wildcard_needs_dns',
  });
});
