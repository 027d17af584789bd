import { afterEach, describe, expect, it } from 'vitest';
import { type HttpAnswer, request } from '../../../test/support/world.ts';
import { type MockProvider, startMockProvider } from './mock.ts';
import { parseRule, ruleOfText } from './rules.ts';

let mock: MockProvider | null = null;
afterEach(async () => {
  await mock?.stop();
  mock = null;
});

async function started(): Promise<MockProvider> {
  mock = await startMockProvider();
  return mock;
}

function send({ url, username, password }: MockProvider, method: string, path: string, body = ''): Promise<HttpAnswer> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return request(url, method, path, { headers: { authorization }, body });
}

const bind = (provider: MockProvider) => send(provider, 'POST', '/resources/db/bind-app', 'app-host=a.example.com');

describe('as a library', () => {
  it('keeps what it was asked, and says what it was asked', async () => {
    const provider = await started();
    await send(provider, 'POST', '/resources', 'name=db&plan=small&team=red');
    const variables = (await bind(provider)).json<Record<string, string>>();
    await send(provider, 'POST', '/resources/db/bind', 'app-host=a.example.com&unit-host=127.0.0.1%3A4000');
    const binding = provider.instances.get('db')?.bindings.get('a.example.com');
    expect([binding?.variables, [...(binding?.units ?? [])]]).toEqual([variables, ['127.0.0.1:4000']]);
    expect(provider.asked.map(({ operation, instance }) => `${operation} ${instance}`)).toEqual([
      'create ',
      'bind db',
      'bindUnit db',
    ]);
  });

  it('misbehaves as often as it was asked to', async () => {
    const provider = await started();
    await send(provider, 'POST', '/resources', 'name=db');
    provider.addRule({ on: 'bind', do: 'fail', status: 503, times: 2 });
    expect([(await bind(provider)).status, (await bind(provider)).status]).toEqual([503, 503]);
    expect(provider.instances.get('db')?.bindings.size).toBe(0);
    expect((await bind(provider)).status).toBe(201);
    expect(provider.asked.map(({ did }) => did)).toEqual(['', 'fail', 'fail', '']);
  });

  it.each([
    ['die', 0],
    ['die-after', 1],
  ] as const)('%s breaks the connection with %i bindings', async (misdeed, bindings) => {
    const provider = await started();
    await send(provider, 'POST', '/resources', 'name=db');
    provider.addRule({ on: 'bind', do: misdeed });
    await expect(bind(provider)).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect(provider.instances.get('db')?.bindings.size).toBe(bindings);
  });

  it('does it late, twice, behind a page, with everything in the error, or after it has forgotten everything', async () => {
    const provider = await started();
    await send(provider, 'POST', '/resources', 'name=db');
    provider.addRule({ on: 'bind', do: 'late', ms: 50, times: 1 });
    const late = request(provider.url, 'POST', '/resources/db/bind-app', {
      headers: { authorization: `Basic ${Buffer.from(`mock:${provider.password}`).toString('base64')}` },
      body: 'app-host=late.example.com',
    });
    expect(provider.instances.get('db')?.bindings.size).toBe(0);
    expect((await late).status).toBe(201);
    provider.addRule({ on: 'bind', do: 'leak', times: 1 });
    expect(await bind(provider)).toMatchObject({ status: 500, text: expect.stringContaining('MOCK_PASSWORD') });
    provider.addRule({ on: 'unbind', do: 'page', times: 1 });
    const page = await send(provider, 'DELETE', '/resources/db/bind-app?app-host=a.example.com');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('<!doctype html>')]);
    expect([...(provider.instances.get('db')?.bindings.keys() ?? [])]).toEqual(['late.example.com']);
    provider.addRule({ on: 'remove', do: 'twice', times: 1 });
    expect((await send(provider, 'DELETE', '/resources/db')).status).toBe(404);
    await send(provider, 'POST', '/resources', 'name=other');
    provider.addRule({ on: 'bind', do: 'forget', times: 1 });
    expect((await send(provider, 'POST', '/resources/other/bind-app', 'app-host=a.example.com')).status).toBe(404);
    expect(provider.instances.size).toBe(0);
  });

  it('what hangs ends with the mock', async () => {
    const provider = await started();
    provider.addRule({ on: 'all', do: 'hang' });
    const answer = expect(send(provider, 'POST', '/resources', 'name=db')).rejects.toThrow(/socket hang up|ECONNRESET/);
    await expect.poll(() => provider.asked.length).toBe(1);
    await provider.stop();
    await answer;
  });
});

describe('at run time', () => {
  it('POST /_mock adds a rule, GET shows them, DELETE takes all back', async () => {
    const provider = await started();
    const reported = await send(provider, 'POST', '/_mock', '{"on":"create","do":"lie","times":3}');
    expect([reported.status, reported.json()]).toEqual([
      200,
      { rules: [{ on: 'create', do: 'lie', times: 3 }], instances: [], asked: [] },
    ]);
    expect((await send(provider, 'POST', '/resources', 'name=db')).status).toBe(201);
    expect((await send(provider, 'GET', '/_mock')).json()).toMatchObject({
      rules: [{ times: 2 }],
      instances: [],
      asked: [{ operation: 'create', did: 'lie' }],
    });
    await send(provider, 'DELETE', '/_mock');
    await send(provider, 'POST', '/resources', 'name=db');
    expect([...provider.instances.keys()]).toEqual(['db']);
  });

  it('needs the credentials, and says what is wrong with a rule', async () => {
    const provider = await started();
    expect((await request(provider.url, 'GET', '/_mock')).status).toBe(401);
    for (const [body, reason] of [
      ['{"on":"bind","do":"sulk"}', /"do" is one of: fail, /],
      ['{"on":"binds","do":"fail"}', /"on" is one of: all, plans/],
      ['{"on":"bind","do":"fail","time":1}', /A rule has no "time"/],
      ['{"on":"bind","do":"fail","times":0}', /"times" is a whole number/],
      ['nonsense', /JSON/],
    ] as const) {
      const answer = await send(provider, 'POST', '/_mock', body);
      expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(reason)]);
    }
  });
});

it('rules on a command line', () => {
  expect(ruleOfText('bind=hang')).toEqual({ on: 'bind', do: 'hang' });
  expect(ruleOfText('create=fail:503*2')).toEqual({ on: 'create', do: 'fail', status: 503, times: 2 });
  expect(ruleOfText('all=slow:200')).toEqual({ on: 'all', do: 'slow', ms: 200 });
  expect(() => ruleOfText('bind')).toThrow(/is no rule/);
  expect(() => parseRule(null)).toThrow(/JSON object/);
});
