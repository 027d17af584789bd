/** Specification 4.1 and 4.6: apps, their environment, run, restart and log; platforms. */
import { isIP } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, EXPECTED, login, somebody, somebodyWithApp, type Target, unique, VARIANT_NAMES } from './target.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export function appsContract(getTarget: () => Target): void {
  describe.each(VARIANT_NAMES)('apps of %s', (variant) => {
    const { prefix, log, pool } = EXPECTED[variant];
    let target: Target;
    let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
    let stranger: string;
    let app: string;

    beforeAll(async () => {
      target = getTarget();
      const admin = await login(target, target.adminEmail, target.adminPassword);
      owner = await somebodyWithApp(target, admin);
      stranger = (await somebody(target, admin)).token;
      app = `${prefix}/apps/${owner.app}`;
    });

    const call = (method: string, path: string, what: Parameters<typeof ask>[3] = {}) =>
      ask(target, method, path, { token: owner.token, ...what });

    it('shows an app with the fields of the variant [apps.info]', async () => {
      const shown = (await call('GET', app)).json as Record<string, unknown>;
      const published = ['Name', 'Framework', 'Repository', 'State', 'Units', 'Teams', ...(pool ? ['Pool'] : [])];
      expect(shown).toMatchObject({ Name: owner.app, Units: [], Teams: [owner.team], State: 'created' });
      expect(Object.keys(shown)).toEqual(expect.arrayContaining(published));
      if (variant !== 'union') expect(Object.keys(shown).sort()).toEqual([...published].sort());
      else expect(shown).toMatchObject({ ready: true, owner: owner.email, teamowner: owner.team });
    });

    it('never has two fields that differ by case only, except the two spellings of the specification', async () => {
      const shown = (await call('GET', app)).json as Record<string, unknown>;
      const names = Object.keys(shown).map((name) => name.toLowerCase());
      expect(new Set(names).size).toBe(names.length);
    });

    it('lists the apps one may see, and no others [apps.list]', async () => {
      const list = (await call('GET', `${prefix}/apps`)).json as Record<string, unknown>[];
      expect(list.map((each) => each['Name'])).toEqual([owner.app]);
      expect((await call('GET', `${prefix}/apps`, { token: stranger })).json).toEqual([]);
      if (variant === 'union') return;
      expect(Object.keys(list[0] ?? {})).toEqual(['Ip', 'Name', 'Units']);
      // Specification 2: an address, not a name.
      expect(isIP(String(list[0]?.['Ip']))).not.toBe(0);
    });

    it('keeps strangers out with 403, and answers 404 for what is not there', async () => {
      const logPath = `${app}/${log[0]}?lines=1`;
      for (const [method, path] of [
        ['GET', app],
        ['DELETE', app],
        ['GET', `${app}/restart`],
        ['GET', `${app}/env`],
        ['POST', `${app}/env`],
        ['DELETE', `${app}/env?env=A`],
        ['POST', `${app}/run`],
        ['GET', logPath],
      ] as const) {
        const body = method === 'POST' ? '{"A":"b"}' : undefined;
        const what = body === undefined ? {} : { body };
        const refused = await call(method, path, { ...what, token: stranger });
        expect([refused.status, refused.code], `${method} ${path}`).toEqual([403, 'access.denied']);
        const missing = await call(method, path.replace(owner.app, 'no-such-app'), what);
        expect([missing.status, missing.code], `${method} ${path}`).toEqual([404, 'app.not_found']);
      }
    });

    it('creates apps as clients of every age ask for them [apps.create apps.remove platforms.list]', async () => {
      const platforms = (await call('GET', `${prefix}/platforms`)).json as { Name: string }[];
      const platform = platforms[0]?.Name ?? '';
      if (variant !== 'union') expect(Object.keys(platforms[0] ?? {})).toEqual(['Name']);
      for (const body of [
        { name: unique('a'), framework: platform, units: 1 },
        { Name: unique('a'), Framework: platform, TeamOwner: owner.team },
        { name: unique('a'), platform, memory: '0', swap: '0', teamOwner: owner.team, plan: { name: '' }, pool: '' },
      ]) {
        const created = await call('POST', `${prefix}/apps`, { body });
        expect(created.status, created.text).toBe(200);
        expect(created.json).toMatchObject({ status: 'success', repository_url: expect.any(String) as string });
        expect(Object.values(created.json as object).every((value) => typeof value === 'string')).toBe(true);
        const path = `${prefix}/apps/${body.name ?? body.Name}`;
        expect((await call('DELETE', path)).status).toBe(200);
        expect((await call('GET', path)).status).toBe(404);
      }
    });

    it('gives an app to all teams of who names none, the first of them as its owner [apps.create]', async () => {
      const platform = ((await call('GET', '/platforms')).json as { Name: string }[])[0]?.Name;
      const ann = await somebody(target, await login(target, target.adminEmail, target.adminPassword));
      const teams = [unique('team-a'), unique('team-b')];
      for (const name of teams)
        expect((await call('POST', '/teams', { token: ann.token, body: { name } })).status).toBe(200);
      const create = (more: object) => {
        const body = { name: unique('a'), platform, ...more };
        return call('POST', `${prefix}/apps`, { token: ann.token, body });
      };
      const name = unique('a');
      expect((await create({ name })).status).toBe(200);
      const shown = await call('GET', `/apps/${name}`, { token: ann.token });
      expect(shown.json).toMatchObject({ Teams: teams, teamowner: teams[0] });
      expect([(await create({ teamOwner: '' })).code, (await create({ teamOwner: 'no-such' })).code]).toEqual([
        'team.ambiguous',
        'team.not_found',
      ]);
    });

    it('refuses apps that cannot be [apps.create]', async () => {
      const platform = ((await call('GET', '/platforms')).json as { Name: string }[])[0]?.Name;
      const create = async (body: object, token = owner.token) => {
        const { status, code } = await call('POST', `${prefix}/apps`, { body, token });
        return [status, code];
      };
      expect(await create({ name: owner.app, platform })).toEqual([409, 'app.name_taken']);
      expect(await create({ name: 'Not_A_Name', platform })).toEqual([400, 'app.invalid_name']);
      expect(await create({ platform })).toEqual([400, 'app.invalid_name']);
      expect(await create({ name: unique('a'), platform: 'no-such' })).toEqual([400, 'platform.not_found']);
      expect(await create({ name: unique('a'), platform }, stranger)).toEqual([400, 'team.required']);
    });

    it('sets and lists environment variables, however they are written [env.set env.get env.unset]', async () => {
      const set = (body: string | object, query = '', headers = {}) =>
        call('POST', `${app}/env${query}`, { body, headers });
      for (const answer of [
        await set({ ONE: '1', EMPTY: '' }),
        await set('{"SECRET":"s"}', '?private=1&noRestart=true', FORM),
        await set('Envs.0.Name=TWO&Envs.0.Value=a+%26+b&NoRestart=&Private=', '', FORM),
        await set('Envs.0.Name=THREE&Envs.0.Value=3&Private=true'),
        await set('FOUR=4 FIVE=five words'),
        await set({ Envs: [{ Name: 'SIX', Value: '6' }], Private: false, NoRestart: true }),
      ]) {
        expect(answer.status, answer.text).toBe(200);
        for (const line of answer.text.split('\n').filter(Boolean)) {
          expect(JSON.parse(line)).toEqual({ Message: expect.any(String) as string });
        }
      }
      const list = (await call('GET', `${app}/env`)).json as { name: string; value: string; public: boolean }[];
      const own = list.filter(({ name }) => /^[A-Z]+$/.test(name));
      expect(own).toEqual([
        { name: 'EMPTY', value: '', public: true },
        { name: 'FIVE', value: 'five words', public: true },
        { name: 'FOUR', value: '4', public: true },
        { name: 'ONE', value: '1', public: true },
        { name: 'SECRET', value: 's', public: false },
        { name: 'SIX', value: '6', public: true },
        { name: 'THREE', value: '3', public: false },
        { name: 'TWO', value: 'a & b', public: true },
      ]);
      expect((await call('GET', `${app}/env`, { body: '["ONE"]\n' })).json).toEqual([own[3]]);
      expect((await call('GET', `${app}/env?env=ONE&env=TWO`)).json).toEqual([own[3], own[7]]);
      expect((await call('GET', `${app}/env`, { body: 'null\n' })).json).toEqual(list);
      expect((await call('DELETE', `${app}/env`, { body: '["ONE","TWO"]' })).status).toBe(200);
      expect((await call('DELETE', `${app}/env?env=THREE&env=FOUR&noRestart=false`)).status).toBe(200);
      const left = (await call('GET', `${app}/env`)).json as { name: string }[];
      expect(left.map(({ name }) => name)).not.toContain('THREE');
    });

    it('refuses environments that are none [env.set env.unset]', async () => {
      for (const body of [
        'not json',
        '[]',
        '[1]',
        '[{"value":"x"}]',
        '{}',
        '{"A":1}',
        '{"A":null}',
        '""',
        '{"1A":"x"}',
        '',
      ]) {
        expect((await call('POST', `${app}/env`, { body })).status, body).toBe(400);
      }
      for (const body of ['not json', '[]', '{}', '[1]', '']) {
        expect((await call('DELETE', `${app}/env`, { body })).status, body).toBe(400);
      }
    });

    it('wants a number of lines, and answers entries or an empty list [apps.log]', async () => {
      for (const name of log) {
        expect((await call('GET', `${app}/${name}`)).code).toBe('log.lines_required');
        for (const lines of ['x', '-1', '1.5']) {
          expect((await call('GET', `${app}/${name}?lines=${lines}`)).code).toBe('input.invalid');
        }
        const answer = await call('GET', `${app}/${name}?lines=5&source=no-such-source&unit=x%2F0`);
        expect([answer.status, answer.json]).toEqual([200, []]);
        // The platform itself, by its own name and by the one that clients know it by.
        const own = await call('GET', `${app}/${name}?lines=0&source=tancho`);
        expect(own.json).toContainEqual(expect.objectContaining({ Source: 'tancho', AppName: owner.app }));
        expect((await call('GET', `${app}/${name}?lines=0&source=tsuru`)).json).toEqual(own.json);
      }
    });

    it('says that there is nothing to restart or run where nothing was deployed [apps.restart apps.run]', async () => {
      const restarted = await call('GET', `${app}/restart`);
      const nothing = `App ${owner.app} has not been deployed yet, there is nothing to restart.\n`;
      expect([restarted.status, restarted.text]).toEqual([200, nothing]);
      const streamed = await call('GET', `${app}/restart`, { headers: { accept: 'application/x-json-stream' } });
      expect([streamed.status, JSON.parse(streamed.text)]).toEqual([200, { Message: nothing }]);
      expect((await call('POST', `${app}/run?once=true`, { body: 'echo x' })).code).toBe('app.not_deployed');
      expect((await call('POST', `${app}/run`, { body: '' })).code).toBe('run.command_required');
      expect((await call('POST', `${app}/run?once=maybe`, { body: 'echo x' })).code).toBe('input.invalid');
    });

    it('restarts and runs what is deployed [apps.restart apps.run]', async (test) => {
      if (target.deploy === undefined) return test.skip('this target cannot deploy');
      await target.deploy(owner.app, owner.token);
      const restarted = await call('GET', `${app}/restart`);
      expect([restarted.status, restarted.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
      const shown = (await call('GET', app)).json as { Units: object[] };
      expect(shown.Units[0]).toMatchObject({
        Name: expect.stringMatching(new RegExp(`^${owner.app}/\\d+$`)) as string,
        State: 'started',
        Ip: expect.any(String) as string,
        ...(variant === 'union' && {
          Address: { Scheme: 'http', Host: expect.stringMatching(/^[^:]+:\d+$/) as string },
        }),
      });
      const ran = await call('POST', `${app}/run?once=true`, { body: 'echo hello' });
      expect([ran.status, ran.text]).toEqual([200, '{"Message":"hello\\n"}\n']);
      const failed = await call('POST', `${app}/run?once=true`, { body: 'exit 3' });
      expect([failed.status, failed.text]).toEqual([200, '{"Message":"","Error":"exit code 3"}\n']);
      const form = await call('POST', `${app}/run`, {
        body: 'command=echo+a+b&once=true&isolated=false',
        headers: FORM,
      });
      expect(form.text).toBe('{"Message":"a b\\n"}\n');
      for (const body of ['echo a b', '"echo a b"', '{"command": "echo a b"}']) {
        const labelled = { body, headers: { 'content-type': 'application/json' } };
        expect((await call('POST', `${app}/run?once=true`, labelled)).text, body).toBe('{"Message":"a b\\n"}\n');
      }
    });
  });

  it('gives the raw output of a command and its exit code to who asks for text', async (test) => {
    const target = getTarget();
    if (target.deploy === undefined) return test.skip('this target cannot deploy');
    const owner = await somebodyWithApp(target, await login(target, target.adminEmail, target.adminPassword));
    await target.deploy(owner.app, owner.token);
    const run = (body: string) =>
      ask(target, 'POST', `/apps/${owner.app}/run?once=true`, {
        token: owner.token,
        body,
        headers: { accept: 'text/plain' },
      });
    const good = await run('echo hi');
    expect([good.text, good.trailers['x-exit-code']]).toEqual(['hi\n', '0']);
    const bad = await run('exit 4');
    expect([bad.text, bad.trailers['x-exit-code']]).toEqual(['', '4']);
    expect((await ask(target, 'POST', `/apps/${owner.app}/restart`, { token: owner.token })).status).toBe(200);
    expect((await ask(target, 'POST', `/a/apps/${owner.app}/restart`, { token: owner.token })).status).toBe(405);
  });
}
