/** Specification 4.1 and beyond: teams and pools of apps, changes of their records, and lists of some of them. */
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Ask,
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

export function appRecordsContract(getTarget: () => Target): void {
  describe('records of apps', () => {
    let target: Target;
    let admin: string;
    let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
    let bob: Somebody & { team: string };

    beforeAll(async () => {
      target = getTarget();
      admin = await login(target, target.adminEmail, target.adminPassword);
      owner = await somebodyWithApp(target, admin);
      const other = await somebody(target, admin);
      bob = { ...other, team: unique('t') };
      expect((await ask(target, 'POST', '/teams', { token: bob.token, body: { name: bob.team } })).status).toBe(200);
    });

    const call = (method: string, path: string, what: Ask = {}) =>
      ask(target, method, path, { token: owner.token, ...what });

    async function expectRefused(method: string, path: string, what: Ask, expected: [number, string]): Promise<void> {
      const { status, code, text } = await call(method, path, what);
      expect([status, code], `${method} ${path}: ${text}`).toEqual(expected);
    }

    async function ok(method: string, path: string, what: Ask = {}): Promise<void> {
      const { status, text } = await call(method, path, what);
      expect([status, text], `${method} ${path}`).toEqual([200, '']);
    }

    describe('teams of an app', () => {
      it.each(['teams/', ''])('are given and taken access, at /apps/<app>/%s<team>', async (between) => {
        const path = `/apps/${owner.app}/${between}${bob.team}`;
        await expectRefused('GET', `/apps/${owner.app}`, { token: bob.token }, [403, 'access.denied']);
        await ok('PUT', path);
        expect((await call('GET', `/apps/${owner.app}`, { token: bob.token })).json).toMatchObject({
          Teams: [bob.team, owner.team].sort(),
        });
        await expectRefused('PUT', path, {}, [409, 'team.access_exists']);
        await ok('DELETE', path);
        await expectRefused('DELETE', path, {}, [404, 'team.access_missing']);
        await expectRefused('GET', `/apps/${owner.app}`, { token: bob.token }, [403, 'access.denied']);
      });

      it('are those there are, and the owner keeps its access', async () => {
        const path = `/apps/${owner.app}/teams`;
        await expectRefused('PUT', `${path}/no-such-team`, {}, [404, 'team.not_found']);
        await expectRefused('DELETE', `${path}/${owner.team}`, {}, [403, 'team.owns_app']);
        await expectRefused('PUT', `${path}/${bob.team}`, { token: bob.token }, [403, 'access.denied']);
        await expectRefused('PUT', `/apps/no-such-app/teams/${bob.team}`, {}, [404, 'app.not_found']);
      });

      it('change the owner among their own', async () => {
        const second = unique('t');
        await ok('POST', '/teams', { body: { name: second } });
        const path = `/apps/${owner.app}/team-owner`;
        await ok('POST', path, { body: second });
        const shown = (await call('GET', `/apps/${owner.app}`)).json;
        expect(shown).toMatchObject({ teamowner: second, Teams: [owner.team, second].sort() });
        await ok('POST', path, { body: { teamOwner: owner.team } });
        await ok('DELETE', `/apps/${owner.app}/${second}`);
        await expectRefused('POST', path, { body: bob.team }, [403, 'access.denied']);
        await expectRefused('POST', path, { body: 'no-such-team' }, [404, 'team.not_found']);
        await expectRefused('POST', path, { body: '' }, [400, 'input.invalid']);
      });
    });

    describe('pools', () => {
      it.each(VARIANT_NAMES)(
        'of %s are listed per team, and apps move between them [pools.list apps.pool]',
        async (variant) => {
          const { prefix, pool } = EXPECTED[variant];
          const list = await call('GET', `${prefix}/pools`);
          const moved = await call('POST', `${prefix}/apps/${owner.app}/pool`, { body: 'default' });
          expect([list.status, moved.status]).toEqual(pool ? [200, 200] : [404, 404]);
          if (pool) {
            const pools = expect.arrayContaining(['default']) as string[];
            expect(list.json).toContainEqual({ Team: owner.team, Pools: pools });
          }
        },
      );

      it('are listed one by one for newer clients', async () => {
        expect((await call('GET', '/1.0/pools')).json).toContainEqual({
          Name: 'default',
          Teams: [],
          Public: true,
          Default: true,
          Engine: expect.stringMatching(/^[a-z]+$/) as string,
          Options: {},
        });
      });

      it('are made by admins, given to teams, and hold apps', async () => {
        const name = unique('p');
        const as = { token: admin };
        await expectRefused('POST', '/pools', { body: { name } }, [403, 'access.denied']);
        await ok('POST', '/1.0/pools', { ...as, body: `name=${name}&public=false`, headers: FORM });
        await expectRefused('POST', '/pools', { ...as, body: { name } }, [409, 'pool.name_taken']);
        await expectRefused('POST', '/pools', { ...as, body: { name: 'default' } }, [409, 'pool.name_taken']);
        await expectRefused('POST', '/pools', { ...as, body: { name: 'A b' } }, [400, 'pool.invalid_name']);
        const move = (prefix: string, body: string | object) =>
          call('POST', `${prefix}/apps/${owner.app}/pool`, { body });
        expect((await move('', name)).status).toBe(403);
        await ok('POST', `/pools/${name}/team`, { ...as, body: `team=${owner.team}&team=${bob.team}`, headers: FORM });
        expect((await call('GET', '/a/pools')).json).toContainEqual({
          Team: owner.team,
          Pools: expect.arrayContaining(['default', name]) as string[],
        });
        expect((await move('/a', `${name}\n`)).status).toBe(200);
        expect((await call('GET', `/a/apps/${owner.app}`)).json).toMatchObject({ Pool: name });
        await expectRefused('DELETE', `/pools/${name}`, as, [409, 'pool.in_use']);
        expect((await move('', { pool: 'default' })).status).toBe(200);
        expect((await move('', 'no-such-pool')).code).toBe('pool.not_found');
        expect((await move('', { pool: 5 })).code).toBe('input.invalid');
        for (const none of ['', '{}', '""', 'pool=', { pool: null }]) {
          expect((await move('/a', none)).code).toBe('input.invalid');
        }
        for (const same of ['"default"', { Pool: 'default' }, { name: 'default' }, 'pool=default']) {
          expect((await move('/a', same)).status).toBe(200);
        }
        await ok('POST', `/apps/${owner.app}/pool`, {
          body: 'default',
          headers: { 'content-type': 'application/json' },
        });
        await expectRefused('POST', '/apps/no-such-app/pool', { body: '' }, [404, 'app.not_found']);
        await ok('DELETE', `/pools/${name}/team?team=${owner.team}`, as);
        expect((await move('', name)).code).toBe('access.denied');
        await expectRefused('POST', `/pools/${name}/team?team=no-such-team`, as, [404, 'team.not_found']);
        await expectRefused('POST', `/pools/${name}/team`, as, [400, 'input.invalid']);
        await expectRefused('POST', `/pools/default/team?team=${owner.team}`, as, [409, 'pool.in_use']);
        await expectRefused('DELETE', '/pools/default', as, [409, 'pool.in_use']);
        await ok('DELETE', `/pools/${name}`, as);
        await expectRefused('DELETE', `/pools/${name}`, as, [404, 'pool.not_found']);
      });

      it('can be chosen when an app is made', async () => {
        const name = unique('p');
        await ok('POST', '/pools', { token: admin, body: { name, public: true } });
        const [platform] = (await call('GET', '/platforms')).json as { Name: string }[];
        const app = { name: unique('app-'), platform: platform?.Name, teamOwner: owner.team };
        await expectRefused('POST', '/apps', { body: { ...app, pool: 'no-such-pool' } }, [404, 'pool.not_found']);
        expect((await call('POST', '/apps', { body: { ...app, pool: name } })).status).toBe(200);
        const list = (await call('GET', `/apps?pool=${name}`)).json as { Name: string }[];
        expect(list.map((each) => each.Name)).toEqual([app.name]);
        expect((await call('DELETE', `/apps/${app.name}`)).status).toBe(200);
        await ok('DELETE', `/pools/${name}`, { token: admin });
      });
    });

    describe('the record of an app', () => {
      it('is changed field by field, and what is empty stays', async () => {
        const body = 'description=A+shop&imageReset=false&plan=&platform=&pool=&teamOwner=';
        await ok('PUT', `/1.0/apps/${owner.app}`, { body, headers: FORM });
        await ok('PUT', `/apps/${owner.app}`, { body: { platform: '' } });
        expect((await call('GET', `/apps/${owner.app}`)).json).toMatchObject({
          description: 'A shop',
          Pool: 'default',
        });
        await expectRefused('PUT', `/apps/${owner.app}`, { body: { platform: 'cobol' } }, [400, 'platform.not_found']);
        await expectRefused('PUT', `/apps/${owner.app}`, { body: { pool: 'no' } }, [404, 'pool.not_found']);
        await expectRefused('PUT', `/apps/${owner.app}`, { body: { plan: 'no-such' } }, [404, 'plan.not_found']);
        await expectRefused('PUT', `/apps/${owner.app}`, { body: { description: {} } }, [400, 'input.invalid']);
        await expectRefused('PUT', `/apps/${owner.app}`, { body: '{}', token: bob.token }, [403, 'access.denied']);
      });

      it('is what lists are filtered by', async () => {
        const names = async (query: string): Promise<string[]> =>
          ((await call('GET', `/apps?${query}`)).json as { Name: string }[]).map((app) => app.Name);
        for (const query of [
          `name=${owner.app.slice(4)}`,
          `owner=${encodeURIComponent(owner.email)}`,
          `teamowner=${owner.team}`,
          `teamOwner=${owner.team}&pool=default&platform=`,
          'locked=false',
        ]) {
          expect(await names(query), query).toEqual([owner.app]);
        }
        for (const query of [
          'name=no.such',
          'platform=cobol',
          'owner=x@example.com',
          `teamOwner=${bob.team}`,
          'pool=x',
        ]) {
          expect(await names(query), query).toEqual([]);
        }
      });
    });
  });
}
