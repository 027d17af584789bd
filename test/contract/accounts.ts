/** Specification 4.7 and 5: passwords, API keys, removal of accounts; the list of users. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiAnswer,
  ask,
  EXPECTED,
  login,
  somebody,
  type Somebody,
  somebodyWithApp,
  type Target,
  unique,
  VARIANT_NAMES,
} from './target.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const verdict = ({ status, code }: ApiAnswer) => [status, code];

export function accountsContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('accounts of %s', (variant) => {
    const { prefix } = EXPECTED[variant];
    let target: Target;
    let admin: string;
    let ann: Somebody;

    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      ann = await somebody(target, admin);
    });

    const call = (method: string, path: string, what: Parameters<typeof ask>[3] = {}) =>
      ask(target, method, prefix + path, what);
    const isIn = async (token: string) => (await call('GET', '/teams', { token })).status === 200;

    it('changes a password and ends the other sessions [users.change_password]', async () => {
      const user = await somebody(target, admin);
      const other = await login(target, user.email, user.password);
      const body = { old: user.password, new: 'newsecret1' };
      const changed = await call('PUT', '/users/password', { token: user.token, body });
      expect([changed.status, changed.text]).toEqual([200, '']);
      expect([await isIn(user.token), await isIn(other)]).toEqual([true, false]);
      const form = 'confirm=secret12&new=secret12&old=newsecret1';
      expect((await call('PUT', '/users/password', { token: user.token, body: form, headers: FORM })).status).toBe(200);
      await expect(login(target, user.email, 'secret12')).resolves.toMatch(/./);
    });

    it.each([
      ['no old one', { new: 'newsecret1' }, 400, 'user.invalid_password'],
      ['an empty old one', { old: '', new: 'newsecret1' }, 400, 'user.invalid_password'],
      ['a null new one', { old: 'secret12', new: null }, 400, 'user.invalid_password'],
      ['a new one of 5 characters', { old: 'secret12', new: '12345' }, 400, 'user.invalid_password'],
      ['a new one of 51 characters', { old: 'secret12', new: 'p'.repeat(51) }, 400, 'user.invalid_password'],
      ['two new ones', { old: 'secret12', new: 'newsecret1', confirm: 'newsecret2' }, 400, 'user.invalid_password'],
      ['a wrong old one', { old: 'wrong-one', new: 'newsecret1' }, 403, 'user.password_mismatch'],
      ['a wrong old one and a short new one', { old: 'wrong-one', new: '1' }, 403, 'user.password_mismatch'],
    ])('refuses a change of the password with %s', async (_what, body, status, code) => {
      expect(verdict(await call('PUT', '/users/password', { token: ann.token, body }))).toEqual([status, code]);
      await expect(login(target, ann.email, ann.password)).resolves.toMatch(/./);
    });

    it('answers a reset for nobody with 404 [users.reset_password]', async () => {
      const nobody = `/users/${unique('nobody')}@example.com/password`;
      expect(verdict(await call('POST', nobody))).toEqual([404, 'user.not_found']);
    });

    it('mails a token that sets a random password, which is mailed, once [users.reset_password]', async (test) => {
      if (target.letterTo === undefined) return test.skip('the mail of this target cannot be read');
      const user = await somebody(target, admin);
      const path = `/users/${user.email}/password`;
      expect(verdict(await call('POST', path))).toEqual([200, undefined]);
      const token = tokenIn(target.letterTo(user.email));
      expect(await isIn(user.token)).toBe(true);
      expect(verdict(await call('POST', `/users/${ann.email}/password?token=${token}`))[1]).toBe(
        'user.invalid_reset_token',
      );
      const set = await call('POST', `${path}?token=${token}`);
      expect([set.status, set.text]).toEqual([200, '']);
      const password = /^ {2}(\S{16})$/m.exec(target.letterTo(user.email))?.[1] ?? '';
      await expect(login(target, user.email, password)).resolves.toMatch(/./);
      await expect(login(target, user.email, user.password)).rejects.toThrow('401');
      expect(await isIn(user.token)).toBe(false);
      expect(verdict(await call('POST', `${path}?token=${token}`))).toEqual([400, 'user.invalid_reset_token']);
    });

    it('sets the password that comes with the token [users.reset_password]', async (test) => {
      if (target.letterTo === undefined) return test.skip('the mail of this target cannot be read');
      for (const field of ['password', 'new']) {
        const user = await somebody(target, admin);
        const path = `/users/${user.email}/password`;
        await call('POST', path, { body: '' });
        const withToken = `${path}?token=${tokenIn(target.letterTo(user.email))}`;
        const short = await call('POST', withToken, { body: { [field]: '12345' } });
        expect(verdict(short)).toEqual([400, 'user.invalid_password']);
        expect((await call('POST', withToken, { body: { [field]: 'my choice' } })).status).toBe(200);
        await expect(login(target, user.email, 'my choice')).resolves.toMatch(/./);
      }
    });

    it('has an API key that works as a token everywhere but for logout [api_key.show api_key.regenerate]', async () => {
      const { email, token } = await somebody(target, admin);
      const shown = await call('GET', '/users/api-key', { token });
      expect(shown.json).toEqual({ token: expect.stringMatching(/^[0-9a-f]{64}$/) as string, users: email });
      expect((await call('GET', '/users/api-key', { token })).json).toEqual(shown.json);
      const key = (shown.json as { token: string }).token;
      expect((await call('GET', '/users/api-key', { token: key })).json).toEqual(shown.json);
      expect((await call('POST', '/teams', { token: key, body: { name: unique('t') } })).status).toBe(200);
      expect(verdict(await call('DELETE', '/users/tokens', { token: key }))).toEqual([400, 'input.invalid']);
      const renewed = await call('POST', '/users/api-key', { token });
      expect(renewed.headers['content-type']).toMatch(/^application\/json/);
      expect(renewed.json).toMatch(/^[0-9a-f]{64}$/);
      expect([await isIn(key), await isIn(renewed.json as string)]).toEqual([false, true]);
    });

    if (variant === 'union') {
      it('shows the API key as one text to clients from 1.0 on [api_key.show_text]', async () => {
        const { token } = await somebody(target, admin);
        const { token: key } = (await call('GET', '/users/api-key', { token })).json as { token: string };
        for (const version of ['/1.0', '/1.6']) {
          const shown = await call('GET', `${version}/users/api-key`, { token });
          expect([shown.headers['content-type'], shown.json]).toEqual(['application/json; charset=utf-8', key]);
        }
        expect(verdict(await call('GET', '/1.0/users/api-key'))).toEqual([401, 'auth.required']);
      });
    }

    it('removes the caller, with everything that let them in [users.remove]', async () => {
      const user = await somebody(target, admin);
      const { token: key } = (await call('GET', '/users/api-key', { token: user.token })).json as { token: string };
      expect((await call('DELETE', '/users', { token: user.token })).status).toBe(200);
      expect([await isIn(user.token), await isIn(key)]).toEqual([false, false]);
      await expect(login(target, user.email, user.password)).rejects.toThrow('404');
    });

    it('removes others for admins only [users.remove]', async () => {
      const user = await somebody(target, admin);
      const remove = (token: string, email: string) =>
        call('DELETE', `/users?user=${encodeURIComponent(email)}`, { token });
      expect(verdict(await remove(user.token, ann.email))).toEqual([403, 'access.denied']);
      expect(verdict(await remove(user.token, 'nobody@example.com'))).toEqual([403, 'access.denied']);
      expect(verdict(await remove(admin, 'nobody@example.com'))).toEqual([404, 'user.not_found']);
      for (const nobody of ['', ' ']) expect(verdict(await remove(user.token, nobody))).toEqual([400, 'input.invalid']);
      expect((await remove(admin, user.email)).status).toBe(200);
      expect(await isIn(user.token)).toBe(false);
      const own = await somebody(target, admin);
      expect((await remove(own.token, own.email)).status).toBe(200);
    });

    it('keeps who is needed: owners of apps, last members, the last admin [users.remove]', async () => {
      const owner = await somebodyWithApp(target, admin);
      const refused = await call('DELETE', '/users', { token: owner.token, headers: { accept: 'application/json' } });
      expect(verdict(refused)).toEqual([403, 'user.owns_apps']);
      expect(refused.json).toMatchObject({ details: { apps: [owner.app] } });
      await call('DELETE', `/apps/${owner.app}`, { token: owner.token });
      const still = await call('DELETE', '/users', { token: owner.token, headers: { accept: 'application/json' } });
      expect(verdict(still)).toEqual([403, 'user.last_member']);
      expect(still.json).toMatchObject({ details: { teams: [owner.team] } });
      await call('PUT', `/teams/${owner.team}/${ann.email}`, { token: owner.token });
      expect((await call('DELETE', '/users', { token: owner.token })).status).toBe(200);
    });
  });

  it('lists users: all for an admin, oneself for others; beyond the specification [users.list]', async () => {
    const target = getTarget();
    const admin = await login(target, target.adminEmail, target.adminPassword);
    const owner = await somebodyWithApp(target, admin);
    const own = { Email: owner.email, Teams: [owner.team], Admin: false };
    const list = async (path: string, token: string) => (await ask(target, 'GET', path, { token })).json;
    expect(await list('/users', owner.token)).toEqual([own]);
    const all = (await list('/1.0/users?userEmail=&role=&context=', admin)) as { Email: string; Admin: boolean }[];
    expect(all).toContainEqual(own);
    expect(all.find(({ Email }) => Email === target.adminEmail)?.Admin).toBe(true);
    expect(await list(`/users?userEmail=${owner.email}`, admin)).toEqual([own]);
    expect((await ask(target, 'GET', '/a/users', { token: admin })).status).toBe(405);
  });

  it('keeps the last admin', async () => {
    const target = getTarget();
    const admin = await login(target, target.adminEmail, target.adminPassword);
    const admins = ((await ask(target, 'GET', '/users', { token: admin })).json as { Admin: boolean }[]).filter(
      (user) => user.Admin,
    );
    expect(admins).toHaveLength(1);
    expect(verdict(await ask(target, 'DELETE', '/users', { token: admin }))).toEqual([403, 'user.last_admin']);
  });

  it('says how one logs in, and takes the e-mail in the body, as later clients send it [auth.scheme auth.login]', async () => {
    const target = getTarget();
    const user = await somebody(target, await login(target, target.adminEmail, target.adminPassword));
    expect((await ask(target, 'GET', '/1.0/auth/scheme')).json).toEqual({ name: 'native', data: null });
    const body = new URLSearchParams({ email: user.email, password: user.password }).toString();
    const answer = await ask(target, 'POST', '/1.0/auth/login', { body, headers: FORM });
    expect(answer.json).toEqual({ token: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
    const wrong = await ask(target, 'POST', '/auth/login', { body: { email: user.email, password: 'wrong-one' } });
    expect(verdict(wrong)).toEqual([401, 'auth.wrong_password']);
  });
}

function tokenIn(letter: string): string {
  return /--token ([0-9a-f]{64})$/m.exec(letter)?.[1] ?? 'none';
}
