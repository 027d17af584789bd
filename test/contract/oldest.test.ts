/** What the base `/0.8` answers in other forms than the union, over the real use cases. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DomainApi, startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';
import { type Ask, login, somebodyWithApp, targetAt } from './target.ts';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text as allText } from 'node:stream/consumers';

let api: DomainApi;
let owner: Awaited<ReturnType<typeof somebodyWithApp>>;

beforeAll(async () => {
  api = await startDomainApi();
  const target = await targetAt({ baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  owner = await somebodyWithApp(target, await login(target, ADMIN.email, ADMIN.password));
  await api.deploy(owner.app, { processes: { web: 'serve' } });
});
afterAll(() => api.dispose());

interface Got {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Not through the recorder: this base has no document of its own. */
function call(method: string, path: string, { body }: Ask = {}): Promise<Got> {
  const text = typeof body === 'object' ? JSON.stringify(body) : (body ?? '');
  const headers = { authorization: owner.token, 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(`${api.baseUrl}${path}`, { method, headers, agent: false }, (response) => {
      let got = '';
      response.setEncoding('utf8').on('data', (piece: string) => (got += piece));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text: got }),
      );
    });
    sent.on('error', reject).end(text);
  });
}

const json = async (path: string): Promise<unknown> => JSON.parse((await call('GET', path)).text);

it('answers text where later clients read streams', async () => {
  const { app } = owner;
  for (const [method, path, body] of [
    ['POST', `/apps/${app}/env`, { A: 'b' }],
    ['GET', `/apps/${app}/restart`, undefined],
    ['PUT', `/apps/${app}/units`, '1'],
    ['POST', `/apps/${app}/run?once=true`, 'print hello'],
  ] as const) {
    const got = await call(method, `/0.8${path}`, body === undefined ? {} : { body });
    expect([got.status, got.type], `${method} ${path}: ${got.text}`).toEqual([200, 'text/plain; charset=utf-8']);
    expect(got.text, path).not.toContain('"Message"');
  }
});

it('answers the output of a command over HTTP/1.0, which has no trailers, as it is', async () => {
  const { hostname, port } = new URL(api.baseUrl);
  for (const [path, accept] of [
    [`/0.8/apps/${owner.app}/run?once=true`, '*/*'],
    [`/apps/${owner.app}/run?once=true`, 'text/plain'],
  ] as const) {
    const client = connect({ host: hostname, port: Number(port) });
    const got = allText(client);
    const head = [`POST ${path} HTTP/1.0`, `Authorization: ${owner.token}`, `Accept: ${accept}`, 'Content-Length: 11'];
    client.end(`${head.join('\r\n')}\r\n\r\nprint hello`);
    expect((await got).toLowerCase()).toMatch(/^http\/1\.1 200 ok\r\n(?!.*\btrailer:).*\r\n\r\nhello\n$/s);
  }
});

it('has the environment as an object, one host name as a text, pools as an object and the key as a text', async () => {
  const { app, team } = owner;
  expect(await json(`/0.8/apps/${app}/env`)).toMatchObject({ A: 'b' });
  expect((await call('POST', `/0.8/apps/${app}/cname`, { body: { cname: `www.${app}.example.com` } })).status).toBe(
    200,
  );
  const cname = `www.${app}.example.com`;
  expect(await json(`/0.8/apps/${app}`)).toMatchObject({ Name: app, cname });
  expect(await json('/0.8/apps')).toContainEqual(expect.objectContaining({ Name: app, cname }));
  // The union right after it, for a list stands for a while: its own form.
  expect(await json('/apps')).toContainEqual(expect.objectContaining({ Name: app, cname: [cname] }));
  expect(await json('/0.8/pools')).toEqual({ pools_by_team: [{ Team: team, Pools: ['default'] }], public_pools: [] });
  expect(await json('/0.8/users/api-key')).toMatch(/^\S{20,}$/);
  // Everything else is the union.
  expect(await json('/0.8/teams')).toEqual(await json('/teams'));
  expect((await call('GET', '/0.8/nothing')).status).toBe(404);
});
