import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DomainApi, startDomainApi } from '../../test/support/domain-api.ts';
import { PLATFORM_NAME } from '../../test/support/memory-builds.ts';
import { StandingAnswers } from './standing-answers.ts';

interface Making {
  readonly url: string;
  finish(status: number, text: string): void;
}

let version = '1';
let making: Making[];
let onMaking: () => void;
let server: Server;
let base: string;

beforeEach(async () => {
  version = '1';
  making = [];
  onMaking = () => undefined;
  const standing = new StandingAnswers({
    paths: new Set(['/apps']),
    version: async () => version,
    isTrusted: ({ headers }) => headers['x-socket'] !== undefined,
    answer: (_request, response, bytes) => void response.writeHead(200, { 'x-again': 'yes' }).end(bytes),
  });
  server = createServer((request, response) =>
    standing.serve(request, response, () => {
      making.push({
        url: request.url ?? '',
        finish(status, text) {
          if (status === 200) standing.keep(request, [Buffer.from(text)]);
          response.writeHead(status).end(text);
        },
      });
      onMaking();
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

async function made(count: number): Promise<void> {
  while (making.length < count) await new Promise<void>((resolve) => (onMaking = resolve));
}

function ask(path = '/apps', headers: Record<string, string> = { authorization: 'bearer a' }): Promise<Response> {
  return fetch(base + path, { headers });
}

async function read(response: Promise<Response>): Promise<string> {
  const { headers, text } = await response.then(async (got) => ({ headers: got.headers, text: await got.text() }));
  return `${text}${headers.has('x-again') ? ' again' : ''}`;
}

async function answerOnce(text: string, ...asking: Parameters<typeof ask>): Promise<string> {
  const answer = read(ask(...asking));
  await made(making.length + 1);
  making.at(-1)?.finish(200, text);
  return answer;
}

describe('a standing answer', () => {
  it('is made once and given again until something is committed', async () => {
    expect(await answerOnce('one')).toBe('one');
    expect(await read(ask())).toBe('one again');
    version = '2';
    expect(await answerOnce('two')).toBe('two');
    expect(making).toHaveLength(2);
  });

  it('is for the same question by the same token only', async () => {
    await answerOnce('mine');
    expect(await answerOnce('theirs', '/apps', { authorization: 'bearer b' })).toBe('theirs');
    expect(await answerOnce('some', '/apps?name=x')).toBe('some');
    expect(await answerOnce('other path', '/pools')).toBe('other path');
    expect(await answerOnce('public', '/apps', {})).toBe('public');
    expect(await answerOnce('owner', '/apps', { authorization: 'bearer a', 'x-socket': '1' })).toBe('owner');
  });

  it('is waited for by whoever asks while it is made', async () => {
    const answers = [read(ask())];
    await made(1);
    answers.push(read(ask()), read(ask()));
    const another = read(ask('/apps?other'));
    await made(2);
    making[0]?.finish(200, 'same');
    making[1]?.finish(200, 'other');
    expect(await Promise.all(answers)).toEqual(['same', 'same again', 'same again']);
    expect(await another).toBe('other');
    expect(making).toHaveLength(2);
  });

  it('that was overtaken by a commit while it was made is given to nobody who came after', async () => {
    const early = read(ask());
    await made(1);
    version = '2';
    const late = read(ask());
    await made(2);
    making[1]?.finish(200, 'new');
    making[0]?.finish(200, 'old');
    expect([await early, await late]).toEqual(['old', 'new']);
    expect(await read(ask())).toBe('new again');
  });

  it('is never an error: the others ask for themselves', async () => {
    const first = ask();
    await made(1);
    const second = ask();
    const known = read(ask('/apps?known'));
    await made(2);
    making[1]?.finish(200, 'known');
    await known;
    making[0]?.finish(403, 'no');
    expect((await first).status).toBe(403);
    await made(3);
    making[2]?.finish(403, 'no');
    expect((await second).status).toBe(403);
  });
});

describe('the list of apps', () => {
  let api: DomainApi;
  beforeAll(async () => {
    api = await startDomainApi();
  });
  afterAll(() => api.dispose());

  async function call(method: string, path: string, token: string, body?: object): Promise<Response> {
    const headers = { authorization: `bearer ${token}` };
    return fetch(api.baseUrl + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  }

  async function member(email: string, team: string): Promise<string> {
    const password = 'a-long-password';
    await call('POST', '/users', '', { email, password });
    const login = await fetch(`${api.baseUrl}/users/${email}/tokens`, {
      method: 'POST',
      body: `{"password":"${password}"}`,
    });
    const { token } = (await login.json()) as { token: string };
    await call('POST', '/teams', token, { name: team });
    return token;
  }

  async function names(token: string): Promise<string[]> {
    const answer = await call('GET', '/apps', token);
    return answer.status === 200
      ? ((await answer.json()) as { Name: string }[]).map(({ Name }) => Name)
      : [String(answer.status)];
  }

  it('is made of the pieces of the one before, and in the form of whoever asks', async () => {
    const token = await member('eve@s.test', 'greens');
    expect(await (await call('GET', '/apps', token)).text()).toBe('[]');
    for (const name of ['eel', 'elk'])
      await call('POST', '/apps', token, { name, platform: PLATFORM_NAME, teamOwner: 'greens' });
    const listed = async (path: string) =>
      (await call('GET', path, token)).json() as Promise<Record<string, unknown>[]>;
    const [union, plain, oldest] = [await listed('/apps'), await listed('/a/apps'), await listed('/0.8/apps')];
    expect([union, plain, oldest].map((list) => list.map(({ Name }) => Name))).toEqual(Array(3).fill(['eel', 'elk']));
    expect([union, plain, oldest].map(([first]) => 'Pool' in (first ?? {}))).toEqual([true, false, true]);
    await call('POST', '/apps/elk/cname', token, { cname: ['elk.example.com'] });
    const after = await listed('/apps');
    expect(after.map(({ cname }) => cname)).toEqual([undefined, ['elk.example.com']]);
    expect(after[0]).toEqual(union[0]);
    expect((await listed('/0.8/apps')).map(({ cname }) => cname)).toEqual([undefined, 'elk.example.com']);
  });

  it('shows a change to the next who asks, and to nobody more than they may see', async () => {
    const [ann, bob] = [await member('ann@s.test', 'reds'), await member('bob@s.test', 'blues')];
    expect([await names(ann), await names(bob)]).toEqual([[], []]);
    expect((await call('POST', '/apps', ann, { name: 'shop', platform: PLATFORM_NAME })).status).toBe(200);
    expect([await names(ann), await names(bob)]).toEqual([['shop'], []]);
    await call('PUT', '/teams/reds/bob@s.test', ann);
    expect(await names(bob)).toEqual(['shop']);
    await call('DELETE', '/teams/reds/bob@s.test', ann);
    expect(await names(bob)).toEqual([]);
    await call('DELETE', '/users/tokens', ann);
    expect(await names(ann)).toEqual(['401']);
  });
});
