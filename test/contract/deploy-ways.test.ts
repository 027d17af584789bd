/**
 * Code and reports that come in requests: over CONTRACT_BASE_URL when it is set (see contract.test.ts; what needs a deploy is left out
 * there), otherwise over the real use cases with memory below them, where an archive is the recipe of a build.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DomainApi, startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';
import { MULTIPART, multipart, type Part } from '../support/multipart.ts';
import { type Ask, ask, login, somebody, somebodyWithApp, type Target, unique } from './target.ts';

const { CONTRACT_BASE_URL, ADMIN_EMAIL = '', ADMIN_PASSWORD = '' } = process.env;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

let api: DomainApi | null = null;
let target: Target;
let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
let stranger: string;

beforeAll(async () => {
  if (CONTRACT_BASE_URL === undefined) {
    api = await startDomainApi();
    target = { baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password };
  } else {
    const baseUrl = CONTRACT_BASE_URL.replace(/\/$/, '');
    target = { baseUrl, adminEmail: ADMIN_EMAIL, adminPassword: ADMIN_PASSWORD };
  }
  const admin = await login(target, target.adminEmail, target.adminPassword);
  owner = await somebodyWithApp(target, admin);
  stranger = (await somebody(target, admin)).token;
});

afterAll(() => api?.dispose());

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
  it('is deployed as clients of every age send it', async (test) => {
    if (api === null) return test.skip('this target cannot deploy');
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
    const messages = [...(api?.world.machine.gitHost.messages.values() ?? [])];
    expect(messages).toEqual(['Upload', 'Upload', 'late', 'Upload\n\nVersion: v17', 'Upload']);
  });

  it('tells of a failure in its last line or a frame, and the old version serves on', async (test) => {
    if (api === null) return test.skip('this target cannot deploy');
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
    if (api !== null) await expectRefused('POST', path, form(file('garbage')), [400, 'deploy.invalid_source']);
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

  it('of an image says what to do instead, where images do not run', async () => {
    const path = `/1.0/apps/${owner.app}/deploy`;
    const image = { body: 'image=registry%2Fapp%3A1&origin=image', headers: FORM };
    expect(await expectRefused('POST', path, image, [501, 'unsupported'])).toContain('tancho deploy .');
    await expectRefused('POST', path, { ...image, token: stranger }, [403, 'access.denied']);
  });

  it("is for the app's teams and its own token, who may name somebody", async (test) => {
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
    if (api === null) return test.skip('this target cannot deploy');
    const user = { name: 'user', body: 'ci@example.com' };
    expect((await call('POST', `/apps/${app}/deploy`, { ...form(file({}), user), token })).text).toMatch(/\nOK\n$/);
    expect(await newest(app)).toMatchObject({ User: 'ci@example.com' });
    expect((await call('POST', `/apps/${app}/deploy`, form(file({}), user))).text).toMatch(/\nOK\n$/);
    expect(await newest(app)).toMatchObject({ User: owner.email });
  });
});
