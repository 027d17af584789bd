import { describe, expect, it } from 'vitest';
import { memoryUseCases } from '../../../test/support/memory-api.ts';
import type { Caller } from '../caller.ts';
import { type News, NO_NEWS } from '../controls/news.ts';
import { isPlatformError } from '../errors.ts';
import { createAuthentication } from './authentication.ts';
import { CallerCache } from './caller-cache.ts';
import { ensureFirstAdmin } from './first-admin.ts';

const HERE = '10.0.0.1';
const ELSEWHERE = '10.0.0.2';
const ANYBODY: Caller = { kind: 'anonymous', address: HERE };
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHUxGYkEhoVkLLqEqo2b1E8T3gBq7NQHpYVrKf0OB1kA';

function fixture(registrationOpen = true) {
  let time = Date.parse('2024-01-01T00:00:00Z');
  const now = (): Date => new Date(time);
  const { store, useCases } = memoryUseCases(now, registrationOpen);
  const { users, teams } = useCases;
  const codeOf = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'ok';
    } catch (error) {
      if (!isPlatformError(error)) throw error;
      return error.code;
    }
  };
  return {
    store,
    users,
    teams,
    codeOf,
    now,
    pass: (ms: number): void => void (time += ms),
    async signUp(email: string): Promise<{ token: string; caller: Caller }> {
      await users.create(ANYBODY, { email, password: 'secret12' });
      const { token } = await users.login(email, 'secret12', HERE);
      const caller = await users.byToken(token, HERE);
      if (caller === null) throw new Error('the token means nobody');
      return { token, caller };
    },
  };
}

describe('accounts and sessions', () => {
  it('keep the password and the token as hashes only', async () => {
    const { store, signUp } = fixture();
    const { token } = await signUp('Ann@Example.com ');
    const user = await store.user('ann@example.com');
    expect(user?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(JSON.stringify(user)).not.toContain('secret12');
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(await store.session(token, '')).toBeNull();
  });

  it('end when their days are over, also while they are remembered', async () => {
    const { users, signUp, pass } = fixture();
    const { token } = await signUp('ann@example.com');
    pass(7 * 86_400_000 - 1_000);
    expect(await users.byToken(token, HERE)).toMatchObject({ kind: 'user', email: 'ann@example.com', via: 'session' });
    pass(1_000);
    expect(await users.byToken(token, HERE)).toBeNull();
  });

  it('are removed when they have expired, at the next login', async () => {
    const { users, store, signUp, pass } = fixture();
    await signUp('ann@example.com');
    pass(8 * 86_400_000);
    await users.login('ann@example.com', 'secret12', HERE);
    expect(await store.transact((tx) => tx.deleteExpiredSessions(new Date(4e12).toISOString()))).toBe(1);
  });

  it('end at logout, and no others with them', async () => {
    const { users, signUp } = fixture();
    const { token, caller } = await signUp('ann@example.com');
    const second = await users.login('ann@example.com', 'secret12', HERE);
    await users.byToken(second.token, HERE);
    await users.logout(caller);
    expect(await users.byToken(token, HERE)).toBeNull();
    expect(await users.byToken(second.token, HERE)).not.toBeNull();
  });

  it('cannot be ended where there is none', async () => {
    const { users, store, codeOf, now } = fixture();
    expect(await codeOf(users.machineOwner())).toBe('user.not_found');
    await ensureFirstAdmin({ store, now }, { email: 'root@example.com', password: null });
    const owner = await users.machineOwner();
    expect(owner).toMatchObject({ email: 'root@example.com', isAdmin: true, via: 'socket' });
    expect(await codeOf(users.logout(owner))).toBe('input.invalid');
    expect(await codeOf(users.logout(ANYBODY))).toBe('auth.required');
  });

  it('can be opened by anybody, or by an admin only', async () => {
    const { users, store, codeOf, now } = fixture(false);
    const input = { email: 'ann@example.com', password: 'secret12' };
    expect(await codeOf(users.create(ANYBODY, input))).toBe('auth.registration_closed');
    const first = () => ensureFirstAdmin({ store, now }, { email: 'root@example.com', password: null });
    // Of two servers that start at the same time one makes it.
    const [admin, ...others] = (await Promise.all([first(), first()])).filter((one) => one !== null);
    expect(others).toEqual([]);
    expect(admin).toMatchObject({ generated: true, password: expect.stringMatching(/^[\w-]{24}$/) as string });
    expect(await ensureFirstAdmin({ store, now }, { email: 'root@example.com', password: null })).toBeNull();
    expect(await codeOf(users.create(await users.machineOwner(), input))).toBe('ok');
  });

  it('slow down whoever guesses, even all at once', async () => {
    const { users, codeOf, signUp, pass } = fixture();
    await signUp('ann@example.com');
    const guesses = Array.from({ length: 12 }, () => codeOf(users.login('ann@example.com', 'wrong-one', '10.9.9.9')));
    const codes = await Promise.all(guesses);
    expect(codes.filter((code) => code === 'auth.wrong_password')).toHaveLength(5);
    expect(codes.filter((code) => code === 'auth.throttled')).toHaveLength(7);
    expect(await codeOf(users.login('ann@example.com', 'secret12', '10.9.9.9'))).toBe('auth.throttled');
    expect(await codeOf(users.login('ann@example.com', 'secret12', HERE))).toBe('ok');
    pass(1_000);
    expect(await codeOf(users.login('ann@example.com', 'secret12', '10.9.9.9'))).toBe('ok');
  });

  it('are counted per address however many accounts are tried at the same time', async () => {
    const { users, codeOf } = fixture();
    const guesses = Array.from({ length: 40 }, (_, n) =>
      codeOf(users.login(`u${n}@example.com`, 'wrong-one', '10.9.9.8')),
    );
    const codes = await Promise.all(guesses);
    expect(codes.filter((code) => code === 'user.not_found')).toHaveLength(30);
    expect(codes.filter((code) => code === 'auth.throttled')).toHaveLength(10);
  });

  it('keep nothing of what is too long for an account, and answer as for one that nobody has', async () => {
    const published: string[] = [];
    const news: News = { ...NO_NEWS, publish: (_, subject) => void published.push(subject) };
    const { store, now, codeOf } = fixture();
    const users = createAuthentication({ store, callers: new CallerCache(now), news, now });
    const long = `${'x'.repeat(250)}@example.com`;
    expect(await codeOf(users.verifyPassword(long, 'wrong-one', HERE))).toBe('user.not_found');
    expect(await users.byPassword(long, 'wrong-one', HERE)).toBeNull();
    expect(published.filter((subject) => subject.startsWith('["failed"'))).toHaveLength(2);
    expect(published.every((subject) => subject.length < 200)).toBe(true);
  });

  it('serve git over HTTP with the password or a token', async () => {
    const { users, codeOf, signUp } = fixture();
    const { token } = await signUp('ann@example.com');
    await signUp('bob@example.com');
    expect(await users.byPassword('Ann@example.com', 'secret12', HERE)).toMatchObject({ via: 'password' });
    expect(await users.byPassword('ann@example.com', token, HERE)).toMatchObject({ via: 'session' });
    expect(await users.byPassword('bob@example.com', token, HERE)).toBeNull();
    expect(await users.byPassword('nobody@example.com', 'secret12', HERE)).toBeNull();
    for (let i = 0; i < 5; i += 1) await users.byPassword('bob@example.com', 'wrong-one', ELSEWHERE);
    expect(await codeOf(users.byPassword('bob@example.com', 'secret12', ELSEWHERE))).toBe('auth.throttled');
  });
});

describe('the caller behind a token', () => {
  it('has the teams of this very moment', async () => {
    const { users, teams, signUp } = fixture();
    const ann = await signUp('ann@example.com');
    const bob = await signUp('bob@example.com');
    const teamsOfBob = async (): Promise<unknown> => (await users.byToken(bob.token, HERE)) ?? 'nobody';
    await teams.create(ann.caller, 'devs');
    expect(await teamsOfBob()).toMatchObject({ teams: [] });
    await teams.addMember(ann.caller, 'devs', 'bob@example.com');
    expect(await teamsOfBob()).toMatchObject({ teams: ['devs'] });
    await teams.removeMember(ann.caller, 'devs', 'bob@example.com');
    expect(await teamsOfBob()).toMatchObject({ teams: [] });
  });

  it('is asked for in the store once in a while only, and with the address of each request', async () => {
    const { users, store, signUp, pass } = fixture();
    const { token } = await signUp('ann@example.com');
    let asked = 0;
    const { session } = store;
    Object.assign(store, { session: (hash: string, at: string) => ((asked += 1), session(hash, at)) });
    for (let i = 0; i < 10; i += 1)
      expect(await users.byToken(token, `10.3.0.${i}`)).toMatchObject({ address: `10.3.0.${i}` });
    expect(asked).toBe(0);
    pass(3_000);
    await users.byToken(token, HERE);
    expect(asked).toBe(1);
  });

  it('is nobody for what is no token', async () => {
    const { users } = fixture();
    for (const token of ['', 'x', 'f'.repeat(64), 'f'.repeat(10_000)])
      expect(await users.byToken(token, HERE)).toBeNull();
  });
});

describe('SSH keys', () => {
  it('recognise their user, and nobody once removed', async () => {
    const { users, signUp } = fixture();
    const { caller } = await signUp('ann@example.com');
    const { fingerprint, name } = await users.addKey(caller, { key: `${KEY} ann@laptop` });
    expect(name).toBe('ann@laptop');
    expect(await users.bySshKey(fingerprint, HERE)).toMatchObject({ email: 'ann@example.com', via: 'ssh-key' });
    await users.removeKey(caller, { key: KEY });
    expect(await users.bySshKey(fingerprint, HERE)).toBeNull();
  });

  it('belong to one user, under a name of their own', async () => {
    const { users, codeOf, signUp } = fixture();
    const ann = await signUp('ann@example.com');
    const bob = await signUp('bob@example.com');
    expect(await users.addKey(ann.caller, { key: KEY })).toMatchObject({ name: 'key-1' });
    expect(await codeOf(users.addKey(bob.caller, { key: KEY, force: true }))).toBe('key.taken');
    expect(await codeOf(users.removeKey(bob.caller, { key: KEY }))).toBe('key.not_found');
    expect(await users.addKey(ann.caller, { key: KEY, name: 'laptop', force: true })).toMatchObject({ name: 'laptop' });
    expect((await users.keys(ann.caller)).map((key) => key.name)).toEqual(['laptop']);
    expect(await codeOf(users.addKey(ann.caller, { key: KEY, name: 'a\nb' }))).toBe('key.invalid');
    expect(await codeOf(users.removeKey(ann.caller, {}))).toBe('key.invalid');
  });
});
