/** Code, shells and reports that come in requests, over the real use cases with memory below them, where an archive is the recipe of a build. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DomainApi, startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';
import { MULTIPART, multipart, type Part } from '../support/multipart.ts';
import { type Ask, ask, login, somebody, somebodyWithApp, type Target, targetAt, unique } from './target.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

let api: DomainApi;
let target: Target;
let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
let stranger: string;

beforeAll(async () => {
  api = await startDomainApi();
  target = await targetAt({ baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  const admin = await login(target, target.adminEmail, target.adminPassword);
  owner = await somebodyWithApp(target, admin);
  stranger = (await somebody(target, admin)).token;
});

afterAll(() => api.dispose());

const call = (method: string, path: string, what: Ask = {}) =>
  ask(target, method, path, { token: owner.token, ...what });

async function newApp(): Promise<string> {
  const name = unique('app-');
  const [platform] = (await call('GET', '/platforms')).json as { Name: string }[];
  const created = await call('POST', '/apps', { body: { name, platform: platform?.Name, teamOwner: owner.team } });
  expect(created.status, created.text).toBe(200);
  return name;
}

async function expectRefused(method: string, path: string, what: Ask, expected: [number, string]): Promise<string> {
  const { status, code, text } = await call(method, path, what);
  expect([status, code], `${method} ${path}: ${text}`).toEqual(expected);
  return text;
}

const file = (recipe: object | string): Part => ({
  name: 'file',
  filename: 'archive.tar.gz',
  body: typeof recipe === 'string' ? recipe : JSON.stringify(recipe),
});
const form = (...parts: Part[]): Ask => ({
  body: multipart(parts).toString('latin1'),
  headers: { 'content-type': MULTIPART },
});
const newest = async (app: string) =>
  ((await call('GET', `/deploys?app=${app}&limit=1`)).json as Record<string, unknown>[])[0];

describe('an upload', () => {
  it('is deployed as clients of every age send it', async () => {
    const app = await newApp();
    const commit = { name: 'commit', body: 'v17' };
    const text = (name: string, body: string): Part => ({ name, body });
    for (const [path, what, origin] of [
      [`/apps/${app}/deploy`, form(file({})), 'app-deploy'],
      [`/1.0/apps/${app}/deploy?origin=drag-and-drop`, form(file({})), 'drag-and-drop'],
      [`/1.0/apps/${app}/deploy`, form(text('origin', 'app-deploy'), file({}), text('message', 'late')), 'app-deploy'],
      [`/apps/${app}/repository/clone`, form(file({}), commit), 'git'],
      [`/apps/${app}/deploy`, { body: '{}', headers: { 'content-type': 'application/gzip' } }, 'app-deploy'],
    ] as const) {
      const answer = await call('POST', path, what);
      expect([answer.status, answer.headers['content-type']], answer.text).toEqual([200, 'text/plain; charset=utf-8']);
      expect(answer.text).toMatch(/Received 1 file[^]*answers at http[^]*\nOK\n$/);
      const deploy = await newest(app);
      expect(deploy).toMatchObject({ App: app, Error: '', Origin: origin, User: owner.email });
      expect(deploy?.['Commit']).toMatch(/^[0-9a-f]{40}$/);
    }
    const messages = [...api.world.machine.gitHost.messages.values()];
    expect(messages).toEqual(['Upload', 'Upload', 'late', 'Upload\n\nVersion: v17', 'Upload']);
  });

  it('is fetched from an address, when users may have that called', async () => {
    const app = await newApp();
    const path = `/apps/${app}/deploy`;
    const server = createServer((_request, response) => response.end('{}'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/app.tar.gz`;
    const body = new URLSearchParams({ 'archive-url': url, commit: 'abc', user: 'somebody' }).toString();
    expect((await call('POST', path, { body, headers: FORM })).text).toMatch(/\nOK\n$/);
    expect(await newest(app)).toMatchObject({ Origin: 'git', User: owner.email, Error: '' });
    await new Promise((resolve) => server.close(resolve));
    const inside = { body: 'archive-url=http%3A%2F%2F169.254.169.254%2Fx', headers: FORM };
    await expectRefused('POST', path, inside, [400, 'input.invalid']);
    await expectRefused('POST', path, { ...inside, token: stranger }, [403, 'access.denied']);
  });

  it('may be larger than any other body, and whoever leaves before its end has deployed nothing', async () => {
    const app = await newApp();
    const path = `/apps/${app}/deploy`;
    const large = form(file({ lines: [], processes: { web: `serve;${' '.repeat(1_000_000)}` } }));
    expect((await call('POST', path, large)).text).toMatch(/\nOK\n$/);
    const before = await newest(app);
    const { hostname, port } = new URL(target.baseUrl);
    const left = request({
      hostname,
      port,
      path,
      method: 'POST',
      headers: { authorization: `bearer ${owner.token}`, 'content-type': MULTIPART },
    });
    left.on('error', () => {});
    const [start] = String(large.body).split('serve');
    await new Promise((resolve) => left.write(start ?? '', resolve));
    left.destroy();
    expect((await call('GET', `/apps/${app}/available`)).status).toBe(200);
    expect(await newest(app)).toEqual(before);
  });

  it('reports a failure in its last line or a frame, and the old version serves on', async () => {
    const app = await newApp();
    expect((await call('POST', `/apps/${app}/deploy`, form(file({})))).text).toMatch(/\nOK\n$/);
    const broken = form(file({ failure: 'build_failed', lines: ['it broke'] }));
    const answer = await call('POST', `/apps/${app}/deploy`, broken);
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(
      /it broke[^]*release 1\) is still serving[^]*\nDeploy failed \(build_failed\): [^\n]*\n$/,
    );
    const accept = 'application/x-json-stream';
    const framed = await call('POST', `/apps/${app}/deploy`, {
      ...broken,
      headers: { 'content-type': MULTIPART, accept },
    });
    expect(framed.headers['content-type']).toBe(accept);
    const frames = framed.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { Error?: string });
    expect(frames.at(-1)?.Error).toContain('Deploy failed (build_failed)');
    expect(((await call('GET', `/apps/${app}`)).json as { State: string }).State).toBe('started');
  });

  it('is refused with a status when it is damaged, empty, misnamed or none at all, and nothing is deployed', async () => {
    const app = await newApp();
    const path = `/apps/${app}/deploy`;
    await expectRefused('POST', path, form(file('garbage')), [400, 'deploy.invalid_source']);
    await expectRefused('POST', path, form(file('')), [400, 'deploy.invalid_source']);
    await expectRefused('POST', path, form(file({}), { name: 'origin', body: 'mars' }), [400, 'input.invalid']);
    await expectRefused('POST', path, {}, [400, 'input.invalid']);
    await expectRefused('POST', path, form({ name: 'message', body: 'x' }), [400, 'input.invalid']);
    await expectRefused('POST', path, { body: 'x', headers: { 'content-type': 'multipart/form-data' } }, [
      400,
      'input.invalid',
    ]);
    const cut = multipart([file({})], { isCut: true }).toString();
    await expectRefused('POST', path, { body: cut, headers: { 'content-type': MULTIPART } }, [400, 'input.invalid']);
    const version = { body: 'version=origin%2Fmaster&commit=abc', headers: FORM };
    expect(await expectRefused('POST', path, version, [400, 'input.invalid'])).toContain('git push');
    await expectRefused('POST', path, { body: { 'archive-url': { a: 1 } } }, [400, 'input.invalid']);
    expect(await newest(app)).toBeUndefined();
  });

  it('of an image is a deploy like any other, named by the image', async () => {
    const app = await newApp();
    const path = `/1.0/apps/${app}/deploy`;
    const digest = `sha256:${'5'.repeat(64)}`;
    api.world.machine.images.images.set('registry.test/app:1', { digest });
    const image = { body: 'image=registry.test%2Fapp%3A1&origin=image', headers: FORM };
    const answer = await call('POST', path, image);
    expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/Pulling registry\.test[^]*\nOK\n$/)]);
    const name = `registry.test/app:1@${digest}`;
    const listed = await newest(app);
    expect(listed).toMatchObject({ Origin: 'image', Image: name, Commit: '', Error: '' });
    expect((await call('GET', `/deploys/${String(listed?.['ID'])}`)).json).toMatchObject({ Image: name, Diff: '' });
    await expectRefused('POST', path, { ...image, token: stranger }, [403, 'access.denied']);
    const bad = { body: 'image=http%3A%2F%2Fregistry.test%2Fapp', headers: FORM };
    expect(await expectRefused('POST', path, bad, [400, 'input.invalid'])).toContain('is not the name of an image');
    const odd = { body: 'image=registry.test%2Fapp%3A1&origin=git', headers: FORM };
    await expectRefused('POST', path, odd, [400, 'input.invalid']);
    const unknown = await call('POST', path, { body: 'image=registry.test%2Fother', headers: FORM });
    expect(unknown.text).toContain('Deploy failed (pull_failed)');
  });

  it("is for the app's teams and its own token, who may name somebody", async () => {
    const path = `/apps/${owner.app}/deploy`;
    await expectRefused('POST', path, { ...form(file({})), token: stranger }, [403, 'access.denied']);
    await expectRefused('POST', '/apps/no-such-app/deploy', form(file({})), [404, 'app.not_found']);
    for (const prefix of ['/a', '/b']) {
      await expectRefused('POST', `${prefix}${path}`, form(file({})), [404, 'route.not_found']);
    }
    const app = await newApp();
    const given = (await call('POST', '/tokens', { body: { client: app } })).json as { Token: string };
    const token = given.Token;
    await expectRefused('POST', path, { ...form(file({})), token }, [403, 'access.denied']);
    await expectRefused('GET', `/apps/${owner.app}/available`, { token }, [403, 'access.denied']);
    expect((await call('GET', `/apps/${app}/available`, { token })).text).toBe('');
    expect((await call('GET', `/apps/${app}/available`)).status).toBe(200);
    const user = { name: 'user', body: 'ci@example.com' };
    expect((await call('POST', `/apps/${app}/deploy`, { ...form(file({}), user), token })).text).toMatch(/\nOK\n$/);
    expect(await newest(app)).toMatchObject({ User: 'ci@example.com' });
    expect((await call('POST', `/apps/${app}/deploy`, form(file({}), user))).text).toMatch(/\nOK\n$/);
    expect(await newest(app)).toMatchObject({ User: owner.email });
  });
});

describe('a pushed log', () => {
  it("is shown like any other, from the app's teams and its own token, with private values hidden", async () => {
    const app = await newApp();
    const { Token: token } = (await call('POST', '/tokens', { body: { client: app } })).json as { Token: string };
    const canary = 'canary-in-a-coal-mine';
    expect((await call('POST', `/apps/${app}/env?private=1`, { body: { SECRET: canary } })).status).toBe(200);
    const path = `/apps/${app}/log`;
    expect((await call('POST', path, { body: ['one\ntwo', ' ', `is ${canary}`] })).text).toBe('');
    expect((await call('POST', `/1.0${path}?source=cron&unit=${app}/7`, { body: ['three'], token })).status).toBe(200);
    const entries = (await call('GET', `${path}?lines=10`)).json as Record<string, string>[];
    const shown = entries
      .filter(({ Source }) => Source !== 'tancho')
      .map(({ Source, Unit, Message }) => [Source, Unit, Message]);
    expect(shown).toEqual([
      ['app', 'api', 'one'],
      ['app', 'api', 'two'],
      ['app', 'api', expect.not.stringContaining(canary)],
      ['cron', `${app}/7`, 'three'],
    ]);
    await expectRefused('POST', path, { body: ['x'], token: stranger }, [403, 'access.denied']);
    await expectRefused('POST', `/apps/${owner.app}/log`, { body: ['x'], token }, [403, 'access.denied']);
    await expectRefused('POST', path, { body: 'no json' }, [400, 'input.invalid_json']);
    await expectRefused('POST', path, { body: { a: 1 } }, [400, 'input.invalid']);
    await expectRefused('POST', `${path}?source=tancho`, { body: ['x'] }, [400, 'input.invalid']);
    await expectRefused('POST', path, { body: Array<string>(5_001).fill('x') }, [413, 'input.too_large']);
    await expectRefused('POST', `/a${path}`, { body: ['x'] }, [405, 'route.method_not_allowed']);
  });

  it('is removed by admins only, of one app or of all', async () => {
    const [one, two] = [await newApp(), await newApp()];
    for (const app of [one, two]) await call('POST', `/apps/${app}/log?source=x`, { body: ['line'] });
    const count = async (app: string) =>
      ((await call('GET', `/apps/${app}/log?lines=0&source=x`)).json as unknown[]).length;
    await expectRefused('DELETE', `/logs?app=${one}`, {}, [403, 'access.denied']);
    const token = await login(target, target.adminEmail, target.adminPassword);
    expect((await call('DELETE', `/logs?app=${one}`, { token })).status).toBe(200);
    expect([await count(one), await count(two)]).toEqual([0, 1]);
    await expectRefused('DELETE', '/logs?app=no-such-app', { token }, [404, 'app.not_found']);
    expect((await call('DELETE', '/logs', { token })).status).toBe(200);
    expect(await count(two)).toBe(0);
  });
});

describe('reports of units', () => {
  it('are checked and noted, and change nothing of what is seen', async () => {
    const app = await newApp();
    await api.deploy(app);
    const { Token: token } = (await call('POST', '/tokens', { body: { client: app } })).json as { Token: string };
    const units = async () =>
      ((await call('GET', `/apps/${app}`)).json as { Units: { ID: string; State: string }[] }).Units;
    const [unit] = await units();
    const id = unit?.ID ?? '';
    const path = `/apps/${app}/units`;
    const hostname = { body: `hostname=${id.slice(0, 8)}`, headers: FORM, token };
    await call('POST', `/apps/${app}/env?noRestart=true`, { body: { A: 'b' } });
    expect((await call('POST', `${path}/register`, hostname)).json).toContainEqual({
      name: 'A',
      value: 'b',
      public: true,
    });
    expect((await call('POST', `${path}/${id}`, { body: 'status=error', headers: FORM, token })).status).toBe(200);
    expect(await units()).toEqual([unit]);
    expect((await call('GET', `/apps/${app}/log?lines=1`)).text).toContain('reports that it is error');
    await expectRefused('POST', `${path}/${id}?status=well`, {}, [400, 'input.invalid']);
    await expectRefused('POST', `${path}/ffffffff?status=started`, {}, [404, 'unit.not_found']);
    await expectRefused('POST', `${path}/register`, { body: 'hostname=ffffffff', headers: FORM }, [
      404,
      'unit.not_found',
    ]);
    await expectRefused('POST', `${path}/${id}?status=started`, { token: stranger }, [403, 'access.denied']);
    const asked = [{ ID: id, Name: 'x', Status: 'started' }, { ID: 'ffffffff' }];
    await expectRefused('POST', '/units/status', { body: asked }, [403, 'access.denied']);
    const admin = await login(target, target.adminEmail, target.adminPassword);
    const known = [
      { ID: id, Found: true },
      { ID: 'ffffffff', Found: false },
    ];
    expect((await call('POST', '/units/status', { body: asked, token: admin })).json).toEqual(known);
    const form = { body: `Units.0.ID=${id}&Units.1.ID=ffffffff`, headers: FORM, token: admin };
    expect((await call('POST', '/1.0/node/status', form)).json).toEqual(known);
  });

  it('may leave data with the app, which shows it', async () => {
    const app = await newApp();
    const { Token: token } = (await call('POST', '/tokens', { body: { client: app } })).json as { Token: string };
    const shown = async () => ((await call('GET', `/apps/${app}`)).json as { customdata?: unknown }).customdata;
    expect(await shown()).toBeUndefined();
    const data = { procfile: 'web: x', deep: { list: [1, null, 'ü'] } };
    expect((await call('POST', `/apps/${app}/customdata`, { body: data, token })).status).toBe(200);
    expect(await shown()).toEqual(data);
    expect((await call('GET', `/a/apps/${app}`)).json as object).not.toHaveProperty('customdata');
    await expectRefused('POST', `/apps/${app}/customdata`, { body: ['x'] }, [400, 'input.invalid']);
    let deep: object = {};
    for (let level = 0; level < 1_000; level += 1) deep = { deep };
    await expectRefused('POST', `/apps/${app}/customdata`, { body: deep }, [400, 'input.invalid']);
    await expectRefused('POST', `/apps/${app}/customdata`, { body: data, token: stranger }, [403, 'access.denied']);
    const large = { body: { a: 'x'.repeat(60_000), b: 'x'.repeat(60_000) } };
    expect((await call('POST', `/apps/${app}/customdata`, large)).status).toBe(413);
  });
});

it('a shell without a websocket is refused with what to do', async () => {
  expect(await expectRefused('GET', `/apps/${owner.app}/shell`, {}, [400, 'input.invalid'])).toContain(
    'tancho app shell',
  );
  await expectRefused('GET', `/apps/${owner.app}/shell`, { token: stranger }, [403, 'access.denied']);
});
