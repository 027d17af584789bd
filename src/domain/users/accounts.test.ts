import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { memoryUseCases } from '../../../test/support/memory-api.ts';
import type { Caller } from '../caller.ts';
import { isPlatformError, PlatformError } from '../errors.ts';
import { ensureFirstAdmin } from './first-admin.ts';

const HERE = '10.0.0.1';
const ANYBODY: Caller = { kind: 'anonymous', address: HERE };
const ANN = 'ann@example.com';
const SSH_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILNnqrzPHDNA2iqnq9+RoPsrkJB9rOuo2oOali77XDD5';

async function fixture() {
  let time = Date.parse('2024-01-01T00:00:00Z');
  const now = (): Date => new Date(time);
  const { store, letters, useCases } = memoryUseCases(now);
  const { users } = useCases;
  await users.create(ANYBODY, { email: ANN, password: 'secret12' });
  const signIn = async (email: string, password: string): Promise<{ token: string; caller: Caller }> => {
    const { token } = await users.login(email, password, HERE);
    const caller = await users.byToken(token, HERE);
    if (caller === null) throw new Error('the token means nobody');
    return { token, caller };
  };
  const reset = (token: string, password?: string, address = HERE): Promise<void> =>
    users.resetPassword(ANYBODY, { email: ANN, token, password, address });
  return {
    ...useCases,
    store,
    letters,
    now,
    signIn,
    reset,
    pass: (ms: number): void => void (time += ms),
    /** Until the answer is called. */
    breakMail(): () => void {
      const push = letters.push;
      letters.push = () => {
        throw new PlatformError('unavailable', 'The mail server is away.');
      };
      return () => void (letters.push = push);
    },
    mailedToken: (): string => /--token (\w+)$/m.exec(letters.at(-1)?.text ?? '')?.[1] ?? '',
  };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (!isPlatformError(error)) throw error;
    return error.code;
  }
}

describe('a changed password', () => {
  it('leaves the presented session alone, and ends all others and what was mailed', async () => {
    const { users, signIn, reset, mailedToken } = await fixture();
    const own = await signIn(ANN, 'secret12');
    const other = await signIn(ANN, 'secret12');
    await reset('');
    await users.changePassword(own.caller, { old: 'secret12', new: 'newsecret1' });
    expect(await users.byToken(own.token, HERE)).toMatchObject({ email: ANN });
    expect(await users.byToken(other.token, HERE)).toBeNull();
    expect(await codeOf(reset(mailedToken()))).toBe('user.invalid_reset_token');
  });

  it('by a mailed token ends sessions and the API key, and leaves SSH keys', async () => {
    const { users, signIn, reset, mailedToken } = await fixture();
    const own = await signIn(ANN, 'secret12');
    const { key } = await users.apiKey(own.caller);
    await users.addKey(own.caller, { key: SSH_KEY, name: 'laptop' });
    await reset('');
    expect(await users.byToken(key, HERE)).toMatchObject({ email: ANN });
    await reset(mailedToken(), 'newsecret1');
    expect([await users.byToken(own.token, HERE), await users.byToken(key, HERE)]).toEqual([null, null]);
    const again = await signIn(ANN, 'newsecret1');
    expect((await users.keys(again.caller)).map(({ name }) => name)).toEqual(['laptop']);
    expect((await users.apiKey(again.caller)).key).not.toBe(key);
  });

  it('ends the API key, as it ends sessions', async () => {
    const { users, signIn } = await fixture();
    const { caller, token } = await signIn(ANN, 'secret12');
    const { key } = await users.apiKey(caller);
    await users.changePassword(caller, { old: 'secret12', new: 'newsecret1' });
    expect([await users.byToken(key, HERE), (await users.byToken(token, HERE))?.kind]).toEqual([null, 'user']);
  });

  it('leaves the API key that it was changed with, and no session', async () => {
    const { users, signIn } = await fixture();
    const own = await signIn(ANN, 'secret12');
    const { key } = await users.apiKey(own.caller);
    const byKey = await users.byToken(key, HERE);
    if (byKey === null) throw new Error('the key means nobody');
    await users.changePassword(byKey, { old: 'secret12', new: 'newsecret1' });
    expect(await users.byToken(own.token, HERE)).toBeNull();
    expect(await users.byToken(key, HERE)).toMatchObject({ via: 'api-key' });
  });

  it('is not to be guessed with somebody else’s session', async () => {
    const { users, signIn } = await fixture();
    const { caller } = await signIn(ANN, 'secret12');
    const guess = (old: string) => codeOf(users.changePassword(caller, { old, new: 'newsecret1' }));
    for (let i = 0; i < 5; i += 1) expect(await guess('wrong-one')).toBe('user.password_mismatch');
    expect(await guess('secret12')).toBe('auth.throttled');
  });

  it('beats a login that was under way with the old one', async () => {
    const { users, store, signIn } = await fixture();
    const { caller } = await signIn(ANN, 'secret12');
    const { transact } = store;
    // The change comes between the comparison of the password and the new session.
    let isFirst = true;
    Object.assign(store, {
      async transact(work: Parameters<typeof transact>[0]) {
        if (isFirst) {
          isFirst = false;
          await users.changePassword(caller, { old: 'secret12', new: 'newsecret1' });
        }
        return transact(work);
      },
    });
    expect(await codeOf(users.login(ANN, 'secret12', HERE))).toBe('auth.wrong_password');
    expect(await codeOf(users.login(ANN, 'newsecret1', HERE))).toBe('ok');
  });
});

describe('a forgotten password', () => {
  it('is replaced and mailed once, by a token that is sent twice at one time', async () => {
    const { reset, mailedToken, letters, signIn, store } = await fixture();
    await reset('');
    const token = mailedToken();
    const before = letters.length;
    const { transact } = store;
    // As one of a database that is elsewhere: both have hashed their passwords before either is answered.
    Object.assign(store, {
      async transact(work: Parameters<typeof transact>[0]) {
        await delay(100);
        return transact(work);
      },
    });
    const ends = await Promise.all([codeOf(reset(token)), codeOf(reset(token))]);
    expect(ends.toSorted()).toEqual(['ok', 'user.invalid_reset_token']);
    expect(letters).toHaveLength(before + 1);
    await signIn(ANN, /^ {2}(\S+)$/m.exec(letters.at(-1)?.text ?? '')?.[1] ?? '');
  });

  it('is replaced within 24 hours, and the old one is good until then', async () => {
    const { reset, mailedToken, pass, signIn } = await fixture();
    await reset('');
    pass(24 * 3_600_000 - 1);
    await signIn(ANN, 'secret12');
    expect(await codeOf(reset(mailedToken(), 'newsecret1'))).toBe('ok');
    await reset('');
    pass(24 * 3_600_000);
    expect(await codeOf(reset(mailedToken(), 'newsecret2'))).toBe('user.invalid_reset_token');
  });

  it('is stored nowhere but as a hash, and neither is the token', async () => {
    const { reset, mailedToken, letters, store } = await fixture();
    await reset('');
    const token = mailedToken();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    const take = (hash: string) => store.transact((tx) => tx.takePasswordReset(hash, ANN, ''));
    expect(await take(token)).toBe(false);
    await reset(token);
    const password = /^ {2}(\S+)$/m.exec(letters.at(-1)?.text ?? '')?.[1] ?? '';
    expect((await store.user(ANN))?.passwordHash).not.toContain(password);
  });

  it('keeps the tokens of earlier mails good, until one is used', async () => {
    const { reset, mailedToken } = await fixture();
    await reset('');
    const first = mailedToken();
    await reset('');
    expect(await codeOf(reset(first, 'newsecret1'))).toBe('ok');
    expect(await codeOf(reset(mailedToken(), 'newsecret2'))).toBe('user.invalid_reset_token');
  });

  it('stays good while the random one cannot be mailed, and so does the token', async () => {
    const { letters, reset, mailedToken, signIn, breakMail } = await fixture();
    await reset('');
    const token = mailedToken();
    const mend = breakMail();
    expect(await codeOf(reset(token))).toBe('unavailable');
    await signIn(ANN, 'secret12');
    mend();
    await reset(token);
    await signIn(ANN, /^ {2}(\S+)$/m.exec(letters.at(-1)?.text ?? '')?.[1] ?? '');
    expect(await codeOf(reset(token))).toBe('user.invalid_reset_token');
  });

  it('mails nobody all day long, however many ask at once', async () => {
    const { reset, letters, pass } = await fixture();
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(reset(''))));
    expect(codes.filter((code) => code === 'ok')).toHaveLength(5);
    expect(codes.filter((code) => code === 'auth.throttled')).toHaveLength(15);
    expect(letters).toHaveLength(5);
    for (let minute = 0; minute < 30; minute += 1) {
      pass(60_000);
      await Promise.all(Array.from({ length: 5 }, (_, n) => codeOf(reset('', undefined, `10.1.${minute}.${n}`))));
    }
    expect(letters.length).toBeLessThan(100);
  });
});

describe('an API key', () => {
  it('is the same for all who ask for the first time at once', async () => {
    const { users, signIn } = await fixture();
    const { caller } = await signIn(ANN, 'secret12');
    const keys = await Promise.all(Array.from({ length: 5 }, () => users.apiKey(caller)));
    expect(new Set(keys.map(({ key }) => key)).size).toBe(1);
  });

  it('serves git over HTTP, for its own user', async () => {
    const { users, signIn } = await fixture();
    await users.create(ANYBODY, { email: 'bob@example.com', password: 'secret12' });
    const { key } = await users.apiKey((await signIn(ANN, 'secret12')).caller);
    expect(await users.byPassword(ANN, key, HERE)).toMatchObject({ email: ANN, via: 'api-key' });
    expect(await users.byPassword('bob@example.com', key, HERE)).toBeNull();
  });

  it('is void in the moment there is a new one, also while it is remembered', async () => {
    const { users, signIn } = await fixture();
    const { caller } = await signIn(ANN, 'secret12');
    const { key } = await users.apiKey(caller);
    expect(await users.byToken(key, HERE)).not.toBeNull();
    const renewed = await users.regenerateApiKey(caller);
    expect(await users.byToken(key, HERE)).toBeNull();
    expect(await users.byToken(renewed.key, HERE)).toMatchObject({ email: ANN });
  });
});

describe('an app token', () => {
  it('lives a year, and is nobody’s password', async () => {
    const { users, apps, appTokens, teams, signIn, pass } = await fixture();
    const { token: session, caller } = await signIn(ANN, 'secret12');
    await teams.create(caller, 'crew');
    const member = await users.byToken(session, HERE);
    if (member === null) throw new Error('the session is gone');
    await apps.create(member, { name: 'shop', platform: 'static' });
    const { token } = await appTokens.create(member, { client: 'shop', isExported: false });
    expect(await users.byToken(token, HERE)).toMatchObject({ kind: 'app', app: 'shop', address: HERE });
    expect(await users.byPassword(ANN, token, HERE)).toBeNull();
    pass(365 * 86_400_000 - 1);
    expect(await users.byToken(token, HERE)).not.toBeNull();
    pass(1);
    expect(await users.byToken(token, HERE)).toBeNull();
  });
});

describe('a removed user', () => {
  it('is the last admin never, another admin gladly', async () => {
    const { users, store, now } = await fixture();
    await ensureFirstAdmin({ store, now }, { email: 'root@example.com', password: null });
    const root = await users.machineOwner();
    expect(await codeOf(users.remove(root, undefined))).toBe('user.last_admin');
    const second = { email: 'second@example.com', passwordHash: '', isAdmin: true, createdAt: now().toISOString() };
    await store.transact((tx) => tx.insertUser(second));
    expect(await codeOf(users.remove(root, 'second@example.com'))).toBe('ok');
    expect(await codeOf(users.remove(root, 'second@example.com'))).toBe('user.not_found');
    expect(await codeOf(users.remove(ANYBODY, ANN))).toBe('auth.required');
  });
});
