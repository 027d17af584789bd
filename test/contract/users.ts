/** Specification 4.7 and 5: accounts, login, logout, keys. */
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, EXPECTED, login, somebody, type Somebody, type Target, unique, VARIANT_NAMES } from './target.ts';

export function usersContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('users of %s', (variant) => {
    const { prefix, info } = EXPECTED[variant];
    let target: Target;
    let admin: string;
    let ann: Somebody;

    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      ann = await somebody(target, admin);
    });

    it.each([
      ['no e-mail', { password: 'secret12' }, 'user.invalid_email'],
      ['no domain', { email: 'ann', password: 'secret12' }, 'user.invalid_email'],
      ['two at signs', { email: 'a@b@c.de', password: 'secret12' }, 'user.invalid_email'],
      ['5 characters', { email: 'x@example.com', password: '12345' }, 'user.invalid_password'],
      ['51 characters', { email: 'x@example.com', password: 'p'.repeat(51) }, 'user.invalid_password'],
      ['null password', { email: 'x@example.com', password: null }, 'user.invalid_password'],
    ])('refuses an account with %s [users.create]', async (_what, body, code) => {
      const answer = await ask(target, 'POST', `${prefix}/users`, { token: admin, body });
      expect([answer.status, answer.code]).toEqual([400, code]);
    });

    it('accepts passwords of 6 and of 50 characters, counted as people count [users.create users.login]', async () => {
      for (const password of ['ÄÖÜßé€', '🦩'.repeat(50)]) {
        const email = `${unique('u')}@example.com`;
        const created = await ask(target, 'POST', `${prefix}/users`, { token: admin, body: { email, password } });
        expect([created.status, created.text]).toEqual([200, '']);
        await expect(login(target, email, password)).resolves.toMatch(/^[0-9a-f]{64}$/);
      }
    });

    it('refuses an e-mail that exists, in whatever case, with 409 [users.create]', async () => {
      const body = { email: ann.email.toUpperCase(), password: 'secret12' };
      const answer = await ask(target, 'POST', `${prefix}/users`, { token: admin, body });
      expect([answer.status, answer.code]).toEqual([409, 'user.email_taken']);
    });

    it('logs in with JSON and with a form, answering nothing but strings [users.login]', async () => {
      const path = `${prefix}/users/${encodeURIComponent(ann.email)}/tokens`;
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      for (const what of [{ body: { password: ann.password } }, { body: `password=${ann.password}`, headers: form }]) {
        const answer = await ask(target, 'POST', path, what);
        expect(answer.status).toBe(200);
        expect(answer.json).toEqual({ token: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
      }
    });

    it('takes the token with any scheme word, or with none', async () => {
      for (const authorization of [`bearer ${ann.token}`, `Bearer ${ann.token}`, ann.token]) {
        expect((await ask(target, 'GET', `${prefix}/apps`, { headers: { authorization } })).status).toBe(200);
      }
    });

    it('answers a bad login as the specification says [users.login]', async () => {
      const path = `${prefix}/users/${ann.email}/tokens`;
      const missing = `${prefix}/users/${unique('nobody')}@example.com/tokens`;
      const cases = [
        [path, { password: 'wrong-one' }, 401, 'auth.wrong_password'],
        [path, { password: '' }, 400, 'user.invalid_password'],
        [path, { password: null }, 400, 'user.invalid_password'],
        [path, {}, 400, 'user.invalid_password'],
        [missing, { password: 'secret12' }, 404, 'user.not_found'],
      ] as const;
      for (const [where, body, status, code] of cases) {
        const answer = await ask(target, 'POST', where, { body });
        expect([answer.status, answer.code]).toEqual([status, code]);
      }
    });

    it('logs out of the presented session only [users.logout]', async () => {
      const token = await login(target, ann.email, ann.password);
      expect((await ask(target, 'GET', `${prefix}/teams`, { token })).status).toBe(200);
      expect((await ask(target, 'DELETE', `${prefix}/users/tokens`, { token })).status).toBe(200);
      expect((await ask(target, 'GET', `${prefix}/teams`, { token })).status).toBe(401);
      expect((await ask(target, 'GET', `${prefix}/teams`, { token: ann.token })).status).toBe(200);
    });

    it('shows who one is, where the variant has it [users.info]', async () => {
      const team = unique('t');
      await ask(target, 'POST', `${prefix}/teams`, { token: ann.token, body: { name: team } });
      const answer = await ask(target, 'GET', `${prefix}/users/info`, { token: ann.token });
      expect(answer.status).toBe(info);
      if (info !== 200) return;
      expect(answer.json).toEqual({ Email: ann.email, Teams: expect.arrayContaining([team]) as string[] });
    });

    it('adds and removes SSH keys [keys.add keys.remove]', async () => {
      const key = `${ed25519()} ann@laptop`;
      const path = `${prefix}/users/keys`;
      const add = (body: object) => ask(target, 'POST', path, { token: ann.token, body });
      expect((await add({ key })).status).toBe(200);
      expect((await add({ key })).code).toBe('key.taken');
      expect((await add({ key: 'ssh-dss AAAA' })).code).toBe('key.invalid');
      expect((await add({})).code).toBe('key.invalid');
      const remove = () => ask(target, 'DELETE', path, { token: ann.token, body: { key } });
      expect((await remove()).status).toBe(200);
      expect([(await remove()).status, (await remove()).code]).toEqual([404, 'key.not_found']);
    });
  });

  it('lists keys by name, and removes them by name, beyond the specification [keys.list keys.remove_by_name]', async () => {
    const target = getTarget();
    const { token } = await somebody(target, await login(target, target.adminEmail, target.adminPassword));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const key = ed25519();
    const body = new URLSearchParams({ key, name: 'my key', force: 'false' }).toString();
    expect((await ask(target, 'POST', '/1.0/users/keys', { token, body, headers: form })).status).toBe(200);
    expect((await ask(target, 'GET', '/1.0/users/keys', { token })).json).toEqual({ 'my key': key });
    const other = { key: ed25519(), name: 'my key' };
    expect((await ask(target, 'POST', '/users/keys', { token, body: other })).status).toBe(409);
    expect((await ask(target, 'POST', '/users/keys', { token, body: { ...other, force: true } })).status).toBe(200);
    expect((await ask(target, 'DELETE', '/1.0/users/keys/my%20key', { token })).status).toBe(200);
    expect((await ask(target, 'GET', '/users/keys', { token })).json).toEqual({});
    expect((await ask(target, 'GET', '/a/users/keys', { token })).status).toBe(405);
  });
}

/** A fresh key as ssh-keygen would write it, without the comment. */
function ed25519(): string {
  const { publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const field = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  return `ssh-ed25519 ${Buffer.concat([field(Buffer.from('ssh-ed25519')), field(raw)]).toString('base64')}`;
}
