/** Beyond the specification, what operators do: plans, platforms, pools, admins, the upkeep of apps, by clients of every age. */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Ask, ask, login, somebody, type Somebody, somebodyWithApp, type Target, unique } from './target.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const DEFINITION = `description: Shell scripts
example: sh run.sh
detect: [run.sh]
tools: [{ program: sh, version: [-c, 'echo 1.0'], install: { apt-get: apt-get install -y dash } }]
processes: [{ name: web, command: sh run.sh }]
`;

export function administrationContract(getTarget: () => Target): void {
  describe('administration', () => {
    let target: Target;
    let admin: string;
    let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
    let bob: Somebody;

    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      owner = await somebodyWithApp(target, admin);
      bob = await somebody(target, admin);
    });

    const asAdmin = (method: string, path: string, what: Ask = {}) =>
      ask(target, method, path, { token: admin, ...what });
    const asOwner = (method: string, path: string, what: Ask = {}) =>
      ask(target, method, path, { token: owner.token, ...what });

    async function refused(answer: ReturnType<typeof ask>, expected: [number, string]): Promise<void> {
      const { status, code, text } = await answer;
      expect([status, code], text).toEqual(expected);
    }

    async function ok(answer: ReturnType<typeof ask>): Promise<string> {
      const { status, text } = await answer;
      expect(status, text).toBe(200);
      return text;
    }

    describe('plans', () => {
      const plan = (more: object) => ({
        memory: 0,
        swap: 0,
        cpushare: 100,
        cpumilli: 0,
        disk: 0,
        default: false,
        ...more,
      });
      const list = async () => (await asOwner('GET', '/plans')).json as { name: string; default: boolean }[];

      it('are there, one the default, and made by admins in JSON and forms', async () => {
        expect((await list())[0]).toMatchObject({ name: 'default', swap: 0, default: true });
        const [small, large] = [unique('small'), unique('large')];
        await refused(asOwner('POST', '/plans', { body: { name: small } }), [403, 'access.denied']);
        await ok(
          asAdmin('POST', '/plans', { body: { name: small, memory: 67108864, swap: 0, cpushare: 20, router: '' } }),
        );
        const form = `name=${large}&memory=128M&swap=0&cpushare=200&disk=2G&default=false`;
        await ok(asAdmin('POST', '/1.0/plans', { body: form, headers: FORM }));
        expect(await list()).toContainEqual(plan({ name: small, memory: 67108864, cpushare: 20 }));
        expect(await list()).toContainEqual(
          plan({ name: large, memory: 134217728, cpushare: 200, disk: 2 * 1024 ** 3 }),
        );
        await refused(asAdmin('POST', '/plans', { body: { name: small } }), [409, 'plan.name_taken']);
        await refused(asOwner('DELETE', `/plans/${small}`), [403, 'access.denied']);
        for (const name of [small, large]) await ok(asAdmin('DELETE', `/plans/${name}`));
        await refused(asAdmin('DELETE', `/plans/${small}`), [404, 'plan.not_found']);
        await refused(asAdmin('DELETE', '/plans/default'), [409, 'plan.in_use']);
      });

      it.each([
        [{ name: '' }],
        [{ name: '../x' }],
        [{ memory: 'much' }],
        [{ memory: 1 }],
        [{ memory: '9007199254740993' }],
        [{ memory: '900000G' }],
        [{ cpumilli: 1 }],
        [{ cpumilli: 99_999_999 }],
        [{ swap: 1 }],
        [{ cpushare: -1 }],
        [{ disk: 1 }],
        [{ disk: '2P' }],
      ])('are refused with %j', (wrong) =>
        refused(asAdmin('POST', '/plans', { body: { name: unique('p'), ...wrong } }), [400, 'plan.invalid']),
      );

      it('are chosen for apps, at their creation and later, and then stay', async () => {
        const name = unique('p');
        await ok(asAdmin('POST', '/plans', { body: { name, memory: '64Mi' } }));
        await ok(asOwner('POST', `/apps/${owner.app}/plan`, { body: { name, memory: 0, swap: 0, cpushare: 0 } }));
        expect((await asOwner('GET', `/apps/${owner.app}`)).json).toMatchObject({ plan: { name, memory: 67108864 } });
        await refused(asAdmin('DELETE', `/plans/${name}`), [409, 'plan.in_use']);
        const body = 'description=&plan=default&pool=&teamOwner=';
        await ok(asOwner('PUT', `/1.0/apps/${owner.app}`, { body, headers: FORM }));
        const json = { Name: '', CName: null, Pool: '', Plan: { Name: name, Memory: 0 }, Lock: { Locked: false } };
        await ok(asOwner('POST', `/1.0/apps/${owner.app}`, { body: json }));
        expect((await asOwner('GET', `/apps/${owner.app}`)).json).toMatchObject({ plan: { name } });
        await ok(asOwner('POST', `/apps/${owner.app}/plan`, { body: 'default' }));
        await refused(asOwner('POST', `/apps/${owner.app}/plan`, { body: '' }), [400, 'input.invalid']);
        const [platform] = (await asOwner('GET', '/platforms')).json as { Name: string }[];
        const app = { name: unique('app-'), platform: platform?.Name, teamOwner: owner.team };
        await refused(asOwner('POST', '/apps', { body: { ...app, plan: 'no-such' } }), [404, 'plan.not_found']);
        await ok(asOwner('POST', '/apps', { body: { ...app, plan: { name } } }));
        expect((await asOwner('GET', `/apps/${app.name}`)).json).toMatchObject({ plan: { name } });
        await ok(asOwner('DELETE', `/apps/${app.name}`));
        await ok(asAdmin('DELETE', `/plans/${name}`));
      });

      it('can be the default for new apps, one at a time', async () => {
        const [first, second] = [unique('p'), unique('p')];
        await ok(asAdmin('POST', '/plans', { body: { name: first, default: true } }));
        await ok(asAdmin('POST', '/plans', { body: { name: second, default: 'true' } }));
        expect((await list()).filter((each) => each.default).map((each) => each.name)).toEqual([second]);
        const other = await somebodyWithApp(target, admin);
        const shown = await ask(target, 'GET', `/apps/${other.app}`, { token: other.token });
        expect(shown.json).toMatchObject({ plan: { name: second } });
        await ok(ask(target, 'DELETE', `/apps/${other.app}`, { token: other.token }));
        for (const name of [first, second]) await ok(asAdmin('DELETE', `/plans/${name}`));
        expect((await list())[0]).toMatchObject({ name: 'default', default: true });
      });

      it('know the routers', async () => {
        for (const path of ['/plans/routers', '/1.0/plans/routers', '/1.3/routers']) {
          const routers = (await asAdmin('GET', path)).json as { name: string; type: string }[];
          expect(routers.map(({ name, type }) => [typeof name, typeof type])).toEqual([['string', 'string']]);
        }
      });
    });

    describe('platforms', () => {
      const names = async (token: string): Promise<string[]> =>
        ((await ask(target, 'GET', '/platforms', { token })).json as { Name: string }[]).map(({ Name }) => Name);

      it('are added with a definition, updated and removed', async () => {
        const name = unique('sh-');
        await refused(asOwner('POST', '/platforms', { body: { name, definition: DEFINITION } }), [
          403,
          'access.denied',
        ]);
        await ok(asAdmin('POST', '/platforms', { body: { name, definition: DEFINITION } }));
        expect(await names(owner.token)).toContain(name);
        expect((await asAdmin('GET', '/a/platforms')).json).toContainEqual({ Name: name });
        await refused(asAdmin('POST', '/platforms', { body: { name, definition: DEFINITION } }), [
          409,
          'platform.name_taken',
        ]);
        await ok(asAdmin('PUT', `/platforms/${name}`, { body: DEFINITION.replace('Shell', 'Other') }));
        await refused(asAdmin('PUT', '/platforms/no-such', { body: DEFINITION }), [404, 'platform.unknown']);
        await ok(asAdmin('DELETE', `/platforms/${name}`));
        await refused(asAdmin('DELETE', `/platforms/${name}`), [404, 'platform.unknown']);
      });

      it('are sent as a form, with a file, or as they are', async () => {
        const boundary = '----b7';
        const part = (field: string, text: string): string =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="x"\r\n\r\n${text}\r\n`;
        const forms = (name: string): [string, Ask][] => [
          ['/platforms', { body: new URLSearchParams({ name, dockerfile: DEFINITION }).toString(), headers: FORM }],
          [
            '/1.0/platforms',
            {
              body: `${part('name', name)}${part('dockerfile_content', DEFINITION)}--${boundary}--\r\n`,
              headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
            },
          ],
          [`/platforms?name=${name}`, { body: DEFINITION, headers: { 'content-type': 'application/yaml' } }],
        ];
        for (const index of [0, 1, 2]) {
          const name = unique('sh-');
          const [path, what] = forms(name)[index] ?? ['', {}];
          await ok(asAdmin('POST', path, what));
          expect(await names(admin)).toContain(name);
          await ok(asAdmin('DELETE', `/platforms/${name}`));
        }
      });

      it('are refused with a bad name or definition', async () => {
        const add = (body: object) => asAdmin('POST', '/platforms', { body });
        await refused(add({ definition: DEFINITION }), [400, 'platform.invalid_name']);
        await refused(add({ name: '../etc', definition: DEFINITION }), [400, 'platform.invalid_name']);
        await refused(add({ name: unique('p-') }), [400, 'platform.invalid_definition']);
        await refused(add({ name: unique('p-'), definition: 'wrong: [' }), [400, 'platform.invalid_definition']);
        await refused(add({ name: unique('p-'), definition: '#'.repeat(32_769) }), [
          400,
          'platform.invalid_definition',
        ]);
      });

      it('that come with the server are disabled and enabled, and stay', async () => {
        const [name = ''] = await names(admin);
        const path = `/platforms/${name}`;
        await refused(asAdmin('DELETE', path), [409, 'platform.in_use']);
        await refused(asAdmin('PUT', path, { body: DEFINITION }), [409, 'platform.in_use']);
        await ok(asAdmin('PUT', path, { body: 'disabled=true', headers: FORM }));
        expect(await names(admin)).toContain(name);
        expect(await names(owner.token)).not.toContain(name);
        const app = { name: unique('app-'), platform: name, teamOwner: owner.team };
        await refused(asOwner('POST', '/apps', { body: app }), [409, 'platform.disabled']);
        await ok(asAdmin('PUT', `${path}?disabled=false`));
        expect(await names(owner.token)).toContain(name);
        await ok(asOwner('POST', '/apps', { body: app }));
        await ok(asOwner('DELETE', `/apps/${app.name}`));
      });

      it('that apps are of stay', async () => {
        const name = unique('sh-');
        await ok(asAdmin('POST', '/platforms', { body: { name, definition: DEFINITION } }));
        const app = { name: unique('app-'), platform: name, teamOwner: owner.team };
        await ok(asOwner('POST', '/apps', { body: app }));
        await refused(asAdmin('DELETE', `/platforms/${name}`), [409, 'platform.in_use']);
        await ok(asOwner('DELETE', `/apps/${app.name}`));
        await ok(asAdmin('DELETE', `/platforms/${name}`));
      });
    });

    describe('pools of the oldest clients', () => {
      it('are kept at /pool, named in the body', async () => {
        const [name, second] = [unique('p'), unique('p')];
        await ok(asAdmin('POST', '/pool', { body: { pool: name } }));
        await ok(asAdmin('POST', '/pool?force=false', { body: { Name: second, Public: true, Default: false } }));
        const shape = (more: object) => ({
          ...{ Teams: [], Public: false, Default: false, Engine: expect.any(String) as string, Options: {} },
          ...more,
        });
        const list = async () => (await asAdmin('GET', '/pool')).json;
        expect(await list()).toContainEqual(shape({ Name: name }));
        expect(await list()).toContainEqual(shape({ Name: second, Public: true }));
        await ok(asAdmin('POST', '/pool/team', { body: { pool: name, teams: [owner.team] } }));
        expect(await list()).toContainEqual(shape({ Name: name, Teams: [owner.team] }));
        await ok(asAdmin('DELETE', `/pool/${name}/team`, { body: { teams: [owner.team] } }));
        await ok(asAdmin('POST', `/pool/${name}`, { body: { public: true } }));
        expect(await list()).toContainEqual(shape({ Name: name, Public: true }));
        await ok(asAdmin('PUT', `/1.0/pools/${name}`, { body: 'public=false&default=', headers: FORM }));
        await ok(asAdmin('PUT', `/pools/${name}`));
        expect(await list()).toContainEqual(shape({ Name: name }));
        await refused(asAdmin('POST', `/pool/${name}`, { body: { default: true } }), [409, 'pool.in_use']);
        await refused(asAdmin('POST', '/pool/default', { body: { public: false } }), [409, 'pool.in_use']);
        await refused(asOwner('POST', `/pool/${name}`, { body: { public: true } }), [403, 'access.denied']);
        for (const each of [name, second]) await ok(asAdmin('DELETE', '/pool', { body: { pool: each } }));
      });
    });

    describe('apps', () => {
      it('have one host name for the oldest clients', async () => {
        const shown = async () => ((await asOwner('GET', `/apps/${owner.app}`)).json as { cname?: string[] }).cname;
        const [first, second] = [`${unique('w')}.example.com`, `${unique('w')}.example.com`];
        for (const cname of [first, second]) {
          await ok(asOwner('POST', `/apps/${owner.app}`, { body: { cname } }));
          expect(await shown()).toEqual([cname]);
        }
        await ok(asOwner('POST', `/apps/${owner.app}`, { body: { cname: '' } }));
        expect(await shown()).toBeUndefined();
        await refused(asOwner('POST', `/apps/${owner.app}`, { body: { cname: 'no name' } }), [400, 'cname.invalid']);
      });

      it('are judged with all other changes before any of them is made', async () => {
        const other = await somebodyWithApp(target, admin);
        const path = `/apps/${owner.app}`;
        const cname = `${unique('www-')}.example.com`;
        const shown = async () => ((await asOwner('GET', path)).json as { cname?: string[] }).cname;
        await refused(asOwner('PUT', `${path}?dryRun=true`, { body: { cname: 'no name' } }), [400, 'cname.invalid']);
        await refused(asOwner('PUT', path, { body: { cname, pool: 'no-such' } }), [404, 'pool.not_found']);
        await ok(asOwner('PUT', `${path}?dryRun=true`, { body: { cname } }));
        expect(await shown()).toBeUndefined();
        await ok(asOwner('PUT', path, { body: { cname } }));
        await ok(asOwner('PUT', `${path}?dryRun=true`, { body: { cname: '' } }));
        expect(await shown()).toEqual([cname]);
        const taken = ask(target, 'PUT', `/apps/${other.app}?dryRun=true`, { body: { cname }, token: other.token });
        await refused(taken, [409, 'cname.taken']);
        await ok(asOwner('PUT', path, { body: { cname: '' } }));
      });

      it('are free, republished and available', async () => {
        const path = `/apps/${owner.app}`;
        await ok(asAdmin('DELETE', `${path}/lock`));
        await refused(asOwner('DELETE', `${path}/lock`), [403, 'access.denied']);
        await refused(asAdmin('DELETE', '/apps/no-such/lock'), [404, 'app.not_found']);
        expect((await asAdmin('POST', `${path}/routes`)).json).toEqual({ Added: [], Removed: [] });
        await refused(asOwner('POST', `${path}/routes`), [403, 'access.denied']);
        expect((await asOwner('GET', `${path}/metric/envs`)).json).toEqual({});
        await ok(asOwner('GET', `${path}/available`));
        await refused(ask(target, 'GET', `${path}/available`, { token: bob.token }), [403, 'access.denied']);
      });

      it('are filtered by the states of their units, and answer 404 to words that mean nothing', async () => {
        expect((await asOwner('GET', '/apps?status=started&status=error')).json).toEqual([]);
        expect((await asOwner('GET', '/apps?locked=true')).json).toEqual([]);
        for (const method of ['GET', 'POST', 'PATCH']) {
          await refused(asOwner(method, `/apps/${owner.app}/no-such-word`), [404, 'route.not_found']);
        }
        await refused(asOwner('PATCH', `/apps/${owner.app}/env`), [405, 'route.method_not_allowed']);
      });
    });

    describe('versions in the path', () => {
      it('mean nothing, but for the shape of the pools', async () => {
        for (const version of ['1.0', '1.13', '1.24']) {
          await ok(asOwner('GET', `/${version}/apps/${owner.app}`));
          expect((await asOwner('GET', `/${version}/pools`)).json).toContainEqual(
            expect.objectContaining({ Name: 'default' }),
          );
        }
        expect((await asOwner('GET', '/a/1.0/pools')).json).toContainEqual(
          expect.objectContaining({ Team: owner.team }),
        );
        await refused(asOwner('GET', '/2.0/apps'), [404, 'route.not_found']);
      });
    });

    describe('admins', () => {
      it('make others admins and take it back, but for the last one', async () => {
        const path = `/users/${bob.email}/admin`;
        await refused(asOwner('PUT', path), [403, 'access.denied']);
        await refused(asAdmin('PUT', '/users/nobody@example.com/admin'), [404, 'user.not_found']);
        await ok(asAdmin('PUT', path));
        await ok(ask(target, 'GET', `/apps/${owner.app}`, { token: bob.token }));
        await ok(ask(target, 'DELETE', path, { token: bob.token }));
        await refused(ask(target, 'GET', `/apps/${owner.app}`, { token: bob.token }), [403, 'access.denied']);
        await refused(asAdmin('DELETE', `/users/${target.adminEmail}/admin`), [403, 'user.last_admin']);
      });
    });

    describe('tokens of an app', () => {
      it('are listed without what they are, and end one by one', async () => {
        const make = async () =>
          ((await asOwner('POST', '/tokens', { body: { client: owner.app } })).json as { Token: string }).Token;
        const list = async () =>
          (await asOwner('GET', `/apps/${owner.app}/tokens`)).json as { Id: string; AppName: string }[];
        const before = await list();
        const token = await make();
        const made = (await list()).find(({ Id }) => !before.some((each) => each.Id === Id));
        expect(made).toMatchObject({ AppName: owner.app, CreatedBy: owner.email });
        expect(JSON.stringify(made)).not.toContain(token);
        await ok(ask(target, 'GET', `/apps/${owner.app}/env`, { token }));
        const path = `/apps/${owner.app}/tokens/${made?.Id}`;
        await refused(ask(target, 'DELETE', path, { token: bob.token }), [403, 'access.denied']);
        await ok(asOwner('DELETE', path));
        await refused(asOwner('DELETE', path), [404, 'token.not_found']);
        await refused(ask(target, 'GET', `/apps/${owner.app}/env`, { token }), [401, 'auth.required']);
        await refused(asOwner('GET', '/apps/no-such/tokens'), [404, 'app.not_found']);
      });
    });
  });
}
