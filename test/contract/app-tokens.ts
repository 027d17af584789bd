/** Specification 4.9: app tokens. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type ApiAnswer, ask, EXPECTED, login, somebodyWithApp, type Target, VARIANT_NAMES } from './target.ts';

const verdict = ({ status, code }: ApiAnswer) => [status, code];
interface AppToken {
  readonly Token: string;
  readonly Creation: string;
}

export function appTokensContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('app tokens of %s', (variant) => {
    const { prefix, tokens, log } = EXPECTED[variant];
    let target: Target;
    let admin: string;
    let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
    let other: typeof owner;
    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      owner = await somebodyWithApp(target, admin);
      other = await somebodyWithApp(target, admin);
    });
    const create = (body: object, token = owner.token) => ask(target, 'POST', `${prefix}/tokens`, { token, body });

    it('are there in Variant B [app_tokens.create]', async () => {
      const answer = await create({ client: owner.app });
      expect(answer.status).toBe(tokens);
      if (tokens !== 200) return;
      expect(answer.json).toEqual({
        Token: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        Creation: expect.stringMatching(/^\d{4}\/\d\d\/\d\d$/) as string,
        Expires: 31_536_000_000_000_000,
        AppName: owner.app,
      });
      expect(answer.text).toContain('"Expires":31536000000000000');
      for (const body of [{ AppName: owner.app }, { app: owner.app }, { Client: owner.app, Export: false }]) {
        expect((await create(body)).json, Object.keys(body)[0]).toMatchObject({ AppName: owner.app });
      }
      const day = Date.parse(`${(answer.json as AppToken).Creation.replaceAll('/', '-')}T00:00:00Z`);
      expect(Math.abs(Date.now() - day)).toBeLessThan(2 * 86_400_000);
    });

    it('act on their app and on nothing else [app_tokens.create]', async () => {
      if (tokens !== 200) return;
      const { Token: token } = (await create({ client: owner.app })).json as AppToken;
      const get = (path: string) => ask(target, 'GET', prefix + path, { token });
      for (const path of ['', '/env', `/${log[0]}?lines=1`]) {
        expect((await get(`/apps/${owner.app}${path}`)).status, path).toBe(200);
        expect(verdict(await get(`/apps/${other.app}${path}`)), path).toEqual([403, 'access.denied']);
      }
      for (const path of ['/apps', '/teams', '/users/api-key', `/quota/${owner.email}`, `/apps/${owner.app}/restart`]) {
        expect(verdict(await get(path)), path).toEqual([403, 'access.denied']);
      }
      expect(verdict(await create({ client: owner.app }, token))).toEqual([403, 'access.denied']);
    });

    it('are made by the teams of the app and by admins', async () => {
      if (tokens !== 200) return;
      expect((await create({ client: owner.app }, admin)).status).toBe(200);
      expect(verdict(await create({ client: owner.app }, other.token))).toEqual([403, 'access.denied']);
      expect(verdict(await create({ client: 'no-such-app' }))).toEqual([404, 'app.not_found']);
      for (const body of [{}, { client: '' }, { client: null }]) {
        expect(verdict(await create(body))).toEqual([400, 'app.invalid_name']);
      }
      expect(verdict(await create({ client: 7 }))).toEqual([400, 'input.invalid']);
    });

    it('are exported as a private variable when asked', async () => {
      if (tokens !== 200) return;
      const { Token: token } = (await create({ client: owner.app, export: true })).json as AppToken;
      const env = await ask(target, 'GET', `${prefix}/apps/${owner.app}/env`, { token });
      expect(env.json).toEqual([{ name: 'TANCHO_APP_TOKEN', value: token, public: false }]);
    });
  });

  it('of an app can all be ended, and end with the app; beyond the specification [app_tokens.revoke]', async () => {
    const target = getTarget();
    const owner = await somebodyWithApp(target, await login(target, target.adminEmail, target.adminPassword));
    const { token } = owner;
    const create = async () =>
      ((await ask(target, 'POST', '/tokens', { token, body: { client: owner.app } })).json as AppToken).Token;
    const status = async (appToken: string) =>
      (await ask(target, 'GET', `/apps/${owner.app}/env`, { token: appToken })).status;
    const [first, second] = [await create(), await create()];
    expect([await status(first), await status(second)]).toEqual([200, 200]);
    expect((await ask(target, 'DELETE', `/tokens?client=${owner.app}`, { token })).status).toBe(200);
    expect([await status(first), await status(second)]).toEqual([401, 401]);
    const third = await create();
    await ask(target, 'DELETE', `/apps/${owner.app}`, { token });
    expect(await status(third)).toBe(401);
    expect(verdict(await ask(target, 'DELETE', `/tokens?client=${owner.app}`, { token }))).toEqual([
      404,
      'app.not_found',
    ]);
  });
}
