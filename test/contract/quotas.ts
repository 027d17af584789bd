/** Specification 4.4: quotas of users and apps. */
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

const verdict = ({ status, code }: ApiAnswer) => [status, code];
const UNLIMITED = 2_147_483_647;

export function quotasContract(getTarget: () => Target): void {
  let target: Target;
  let admin: string;
  let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
  let stranger: Somebody;
  beforeAll(async () => {
    target = getTarget();
    admin = await login(target, target.adminEmail, target.adminPassword);
    owner = await somebodyWithApp(target, admin);
    stranger = await somebody(target, admin);
  });
  const set = (path: string, limit: unknown, token = admin) => ask(target, 'PUT', path, { token, body: { limit } });

  it.each(VARIANT_NAMES)(
    'of %s: how many apps are in use, and how many more may come [quotas.user]',
    async (variant) => {
      const { prefix } = EXPECTED[variant];
      const path = `${prefix}/quota/${owner.email}`;
      const shown = async () => (await ask(target, 'GET', path, { token: owner.token })).json;
      await set(`/users/${owner.email}/quota`, 4);
      expect(await shown()).toEqual({ items: 1, available: 3 });
      await set(`/users/${owner.email}/quota`, 0);
      expect(await shown()).toEqual({ items: 1, available: 0 });
      await set(`/users/${owner.email}/quota`, -1);
      expect(await shown()).toEqual({ items: 1, available: UNLIMITED });
      expect((await ask(target, 'GET', path, { token: admin })).status).toBe(200);
      expect(verdict(await ask(target, 'GET', path, { token: stranger.token }))).toEqual([403, 'access.denied']);
      const nobody = `${prefix}/quota/nobody@example.com`;
      expect(verdict(await ask(target, 'GET', nobody, { token: admin }))).toEqual([404, 'user.not_found']);
      expect(verdict(await ask(target, 'GET', nobody, { token: owner.token }))).toEqual([403, 'access.denied']);
    },
  );

  describe('of users, as later clients ask', () => {
    it('are shown to the user and set by admins', async () => {
      const path = `/1.0/users/${owner.email}/quota`;
      const shown = async (token: string) => (await ask(target, 'GET', path, { token })).json;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expect((await ask(target, 'POST', path, { token: admin, body: 'limit=7', headers })).status).toBe(200);
      expect(await shown(owner.token)).toEqual({ limit: 7, inuse: 1 });
      expect((await set(path, '-5')).status).toBe(200);
      expect(await shown(admin)).toEqual({ limit: -1, inuse: 1 });
      expect(verdict(await set(path, 9, owner.token))).toEqual([403, 'access.denied']);
      for (const limit of ['many', '', null, '1.5', 1e12]) {
        expect(verdict(await set(path, limit))).toEqual([400, 'input.invalid']);
      }
      expect(verdict(await set('/users/nobody@example.com/quota', 1))).toEqual([404, 'user.not_found']);
    });

    it('stop the creation of apps', async () => {
      const user = await somebodyWithApp(target, admin);
      await set(`/users/${user.email}/quota`, 1);
      const [platform] = (await ask(target, 'GET', '/platforms', { token: admin })).json as { Name: string }[];
      const create = () =>
        ask(target, 'POST', '/apps', { token: user.token, body: { name: unique('a'), platform: platform?.Name } });
      const refused = await create();
      expect(verdict(refused)).toEqual([403, 'quota.exceeded']);
      expect(refused.text).toMatch(/^Quota exceeded\. Available: 0\. Requested: 1\.\n/);
      await set(`/users/${user.email}/quota`, 2);
      expect((await create()).status).toBe(200);
    });
  });

  it('of apps count units, are shown to the teams of the app and set by admins', async (test) => {
    const path = `/apps/${owner.app}/quota`;
    const shown = async () => (await ask(target, 'GET', path, { token: owner.token })).json;
    expect(await shown()).toEqual({ limit: -1, inuse: 0 });
    expect((await set(path, '3')).status).toBe(200);
    expect(await shown()).toEqual({ limit: 3, inuse: 0 });
    expect(verdict(await set(path, 9, owner.token))).toEqual([403, 'access.denied']);
    expect(verdict(await ask(target, 'GET', path, { token: stranger.token }))).toEqual([403, 'access.denied']);
    expect(verdict(await set('/apps/no-such-app/quota', 1))).toEqual([404, 'app.not_found']);
    if (target.deploy === undefined) return test.skip('this target cannot deploy');
    await target.deploy(owner.app, owner.token);
    expect(await shown()).toEqual({ limit: 3, inuse: 1 });
  });
}
