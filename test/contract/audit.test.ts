/** The audit trail over HTTP: what every door refuses is in it, and who may read what. */
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DomainApi, startDomainApi } from '../support/domain-api.ts';
import { ADMIN } from '../support/memory-api.ts';
import { ask, login, somebody, somebodyWithApp, type Target, targetAt } from './target.ts';

let api: DomainApi;
let target: Target;
let admin: string;
let owner: Awaited<ReturnType<typeof somebodyWithApp>>;
let stranger: Awaited<ReturnType<typeof somebody>>;

beforeAll(async () => {
  api = await startDomainApi();
  target = await targetAt({ baseUrl: api.baseUrl, adminEmail: ADMIN.email, adminPassword: ADMIN.password });
  admin = await login(target, ADMIN.email, ADMIN.password);
  owner = await somebodyWithApp(target, admin);
  stranger = await somebody(target, admin);
});
afterAll(() => api.dispose());

interface Event {
  readonly StartTime: string;
  readonly UniqueID: string;
  readonly Kind: { readonly Name: string };
  readonly Owner: { readonly Name: string };
  readonly Target: { readonly Type: string; readonly Value: string };
  readonly Error: string;
  readonly Refused: boolean;
  readonly Running: boolean;
}

async function events(token: string, query = ''): Promise<Event[]> {
  const answer = await ask(target, 'GET', `/1.1/events?limit=&${query}`, { token });
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Event[];
}

const outlines = async (token: string, query: string) =>
  (await events(token, query)).map(({ Owner, Kind, Target, Error: code, Refused }) =>
    [Owner.Name, Kind.Name, `${Target.Type}:${Target.Value}`, code, Refused ? 'refused' : ''].join(' ').trim(),
  );

it('has what was refused: without a token, without the right, without sense', async () => {
  const { app } = owner;
  await ask(target, 'DELETE', `/apps/${app}`);
  await ask(target, 'DELETE', `/a/apps/${app}`, { token: stranger.token });
  await ask(target, 'POST', `/apps/${app}/cname`, { token: owner.token, body: { cname: 'a b' } });
  await ask(target, 'POST', `/users/${owner.email}/tokens`, { body: { password: 'wrong-one' } });
  await expect
    .poll(() => outlines(admin, `erroronly=true&target.value=${app}`))
    .toEqual(
      expect.arrayContaining([
        `anonymous apps.remove app:${app} auth.required refused`,
        `${stranger.email} app.remove app:${app} access.denied refused`,
        expect.stringMatching(new RegExp(`^${owner.email} \\S+ app:${app} cname.invalid`)),
      ]),
    );
  await expect
    .poll(() => outlines(admin, `target.type=user&target.value=${owner.email}&erroronly=true`))
    .toContain(`anonymous users.login user:${owner.email} auth.wrong_password refused`);
});

it('has edges that come with a token which is none', async () => {
  const url = new URL(`/edges/follow?name=oslo&instance=${'a'.repeat(16)}`, target.baseUrl.replace('http', 'ws'));
  const socket = new WebSocket(url, { headers: { authorization: `bearer ${'0'.repeat(40)}` } });
  await once(socket, 'error');
  await expect
    .poll(() => outlines(admin, 'kindname=edges.follow'))
    .toEqual([expect.stringMatching(/^anonymous edges\.follow \S* ?auth\.required refused$/)]);
});

it('shows admins all, and others their own and what concerns their apps', async () => {
  const { app } = owner;
  const done = await ask(target, 'POST', `/apps/${app}/env`, { token: owner.token, body: { A: 'b' } });
  expect(done.status).toBe(200);
  const [event] = await events(owner.token, `target.value=${app}&kindname=env.set`);
  expect(event).toMatchObject({ Owner: { Type: 'user', Name: owner.email }, Error: '', Running: false });
  const began = String(event?.StartTime);
  expect(await events(owner.token, `target.value=${app}&kindname=env.set&since=1h`)).toHaveLength(1);
  expect(await events(owner.token, `target.value=${app}&kindname=env.set&until=${began}`)).toEqual([]);
  expect((await ask(target, 'GET', '/events?since=yesterday', { token: owner.token })).code).toBe('input.invalid');
  const path = `/events/${String(event?.UniqueID)}`;
  expect((await ask(target, 'GET', path, { token: owner.token })).json).toEqual(event);
  expect((await ask(target, 'GET', path, { token: admin })).json).toEqual(event);
  expect((await ask(target, 'GET', path, { token: stranger.token })).code).toBe('event.not_found');
  expect(await events(stranger.token, `ownername=${owner.email}`)).toEqual([]);
  expect(await outlines(owner.token, `ownername=${stranger.email}`)).toContain(
    `${stranger.email} app.remove app:${app} access.denied refused`,
  );
  expect((await ask(target, 'GET', '/events')).status).toBe(401);
  expect((await ask(target, 'GET', '/events?limit=many', { token: admin })).code).toBe('input.invalid');
});
