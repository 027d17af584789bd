/** What every kind of service endpoint must do, run against a real server that can be made to fail. */
import { text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import type { Endpoint, EndpointKind, ServiceEndpoint } from '../../domain/services/service-endpoint.ts';
import {
  type FaultyServer,
  PASSWORD,
  REDIRECT_LOCATION,
  REDIRECT_TARGET,
  type ReceivedRequest,
} from './testing/faulty-server.ts';
import { BINDING, callOf, endpointAt, endpointsForTest, failureOf, INSTANCE } from './testing/fixtures.ts';

/** A provider, and what it believes. */
interface ProviderUnderTest extends FaultyServer {
  instanceCount(): number;
  bindingCount(): number;
  /** What the next binding answers: some that no app may be given. */
  spoilVariables(): void;
}

interface World {
  readonly provider: ProviderUnderTest;
  readonly endpoints: ServiceEndpoint;
  readonly endpoint: Endpoint;
}

/** Raised with every case that is added, so that the suite cannot hollow out unnoticed. */
const CASES = 30;

const changing = (request: ReceivedRequest): boolean => request.method !== 'GET';

/** `create` answers a provider without instances each time. */
export function serviceEndpointConformance(kind: EndpointKind, create: () => Promise<ProviderUnderTest>): void {
  let finished = 0;
  const test = (title: string, run: (world: World) => Promise<void>): void =>
    it(title, async () => {
      const provider = await create();
      try {
        await run({ provider, endpoints: endpointsForTest(), endpoint: endpointAt(kind, provider.url) });
      } finally {
        finished += 1;
        await provider.close();
      }
    });

  describe(`service endpoint conformance: ${kind}`, () => {
    afterAll(() => expect(finished).toBe(CASES));
    lifeCases(test);
    failureCases(test);
    addressCases(test, kind);
    proxyCases(test);
  });
}

type Test = (title: string, run: (world: World) => Promise<void>) => void;

function lifeCases(test: Test): void {
  test('names the plans', async ({ endpoints, endpoint }) => {
    expect(await endpoints.plans(endpoint, callOf())).toEqual([{ name: 'small', description: 'One.' }]);
  });

  test('creates, binds, unbinds and removes', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    expect(provider.instanceCount()).toBe(1);
    const variables = await endpoints.bind(endpoint, INSTANCE, BINDING, callOf());
    expect([...variables.keys()].sort()).toEqual(['DB_PORT', 'DB_URL']);
    expect(variables.get('DB_PORT')).toBe('5432');
    expect(provider.bindingCount()).toBe(1);
    await endpoints.unbind(endpoint, INSTANCE, BINDING, callOf());
    expect(provider.bindingCount()).toBe(0);
    await endpoints.remove(endpoint, INSTANCE, callOf());
    expect(provider.instanceCount()).toBe(0);
  });

  test('what is gone already may be unbound and removed', async ({ endpoints, endpoint }) => {
    await endpoints.unbind(endpoint, INSTANCE, BINDING, callOf());
    await endpoints.remove(endpoint, INSTANCE, callOf());
  });

  test('says that an instance is there already', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    const other = { ...INSTANCE, parameters: { other: 'yes' } };
    const failure = await failureOf(endpoints.create(endpoint, other, callOf()));
    expect(failure).toMatchObject({ code: 'exists', mayHaveHappened: false, status: 409 });
    expect(provider.instanceCount()).toBe(1);
  });

  test('reports facts and the status', async ({ endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    const [fact] = await endpoints.info(endpoint, INSTANCE, callOf());
    expect(fact).toEqual({ label: expect.stringMatching(/./), value: expect.stringMatching(/./) });
    expect(await endpoints.status(endpoint, INSTANCE, callOf())).toBe('up');
  });

  test('units may be announced and taken back', async ({ endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    await endpoints.bind(endpoint, INSTANCE, BINDING, callOf());
    await endpoints.bindUnit(endpoint, INSTANCE, BINDING, '10.0.0.3:3', callOf());
    await endpoints.unbindUnit(endpoint, INSTANCE, BINDING, '10.0.0.3:3', callOf());
    await endpoints.unbindUnit(endpoint, INSTANCE, BINDING, '10.0.0.3:3', callOf());
  });

  test('every request says who asks, and which step it belongs to', async ({ provider, endpoints, endpoint }) => {
    const call = callOf();
    await endpoints.create(endpoint, INSTANCE, call);
    for (const { headers } of provider.requests) {
      expect(headers).toMatchObject({
        authorization: `Basic ${Buffer.from(`platform:${PASSWORD}`).toString('base64')}`,
        'idempotency-key': call.idempotencyKey,
        'x-request-id': call.requestId,
        host: new URL(endpoint.url).host,
      });
    }
    expect(provider.requests.filter(changing)).toHaveLength(1);
  });
}

function failureCases(test: Test): void {
  test('without a connection nothing has happened', async ({ provider, endpoints, endpoint }) => {
    await provider.close();
    const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
    expect(failure).toMatchObject({ code: 'unreachable', mayHaveHappened: false, status: null });
  });

  test('a connection that breaks leaves open what happened, and creating is not repeated', async (world) => {
    const { provider, endpoints, endpoint } = world;
    provider.fail('reset after', changing);
    const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
    expect(failure).toMatchObject({ code: 'unreachable', mayHaveHappened: true });
    expect(provider.requests.filter(changing)).toHaveLength(1);
    expect(provider.instanceCount()).toBe(1);
  });

  test('what may be repeated is, with the same key', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    provider.fail('reset before', changing, 2);
    const call = callOf();
    await endpoints.remove(endpoint, INSTANCE, call);
    expect(provider.instanceCount()).toBe(0);
    const removals = provider.requests.filter((request) => request.method === 'DELETE');
    expect(removals.map((request) => request.headers['idempotency-key'])).toEqual(Array(3).fill(call.idempotencyKey));
  });

  test('an attempt that broke off may have happened, whatever is answered to the next', async (world) => {
    const { provider, endpoints, endpoint } = world;
    await endpoints.create(endpoint, INSTANCE, callOf());
    provider.failInTurn('reset after', 'say no');
    const refused = await failureOf(endpoints.remove(endpoint, INSTANCE, callOf()));
    expect(refused).toMatchObject({ code: 'refused', mayHaveHappened: true, status: 400 });
    expect(provider.instanceCount()).toBe(0);
    provider.failInTurn('say no');
    const atOnce = await failureOf(endpoints.remove(endpoint, INSTANCE, callOf()));
    expect(atOnce).toMatchObject({ mayHaveHappened: false });
    let isThere = true;
    const resolve = async () => (isThere ? [{ address: '127.0.0.1', family: 4 as const }] : []);
    const named = endpointsForTest({ resolve });
    const { port } = new URL(endpoint.url);
    provider.fail('reset after', ({ method }) => {
      isThere = method !== 'DELETE';
      return !isThere;
    });
    const gone = await failureOf(named.remove({ ...endpoint, url: `http://db.test:${port}` }, INSTANCE, callOf()));
    expect(gone).toMatchObject({ code: 'unreachable', mayHaveHappened: true });
  });

  test('waits for an answer only so long', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    const hasty = endpointsForTest({ deadlines: { short: 400, long: 400, asynchronous: 1_500, poll: 5 } });
    provider.fail('hang', changing);
    const failure = await failureOf(hasty.bind(endpoint, INSTANCE, BINDING, callOf()));
    expect(failure).toMatchObject({ code: 'timeout', mayHaveHappened: true });
    provider.fail('hang');
    const read = await failureOf(hasty.info(endpoint, INSTANCE, callOf()));
    expect(read).toMatchObject({ code: 'timeout', mayHaveHappened: false });
  });

  test('ends when the caller gives up', async ({ provider, endpoint }) => {
    const endpoints = endpointsForTest({ deadlines: {} });
    provider.fail('hang', changing);
    const controller = new AbortController();
    const work = failureOf(endpoints.create(endpoint, INSTANCE, callOf(controller.signal)));
    await expect.poll(() => provider.requests.filter(changing).length).toBe(1);
    controller.abort();
    expect(await work).toMatchObject({ code: 'timeout', mayHaveHappened: true });
    const late = await failureOf(endpoints.create(endpoint, INSTANCE, callOf(controller.signal)));
    expect(late).toMatchObject({ code: 'timeout', mayHaveHappened: false });
  });

  test('a refusal keeps the secrets, and a plain no leaves nothing open', async (world) => {
    const { provider, endpoints, endpoint } = world;
    for (const [fault, mayHaveHappened] of [['say all', true] as const, ['say no', false] as const]) {
      provider.fail(fault, changing);
      const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
      expect(failure).toMatchObject({ code: 'refused', mayHaveHappened, status: mayHaveHappened ? 500 : 400 });
      expect(failure.message).toContain('no: ***');
      expect(failure.message).not.toContain(PASSWORD);
      expect(failure.message).not.toContain('secret-seed-value');
      expect(failure.message).not.toContain(Buffer.from(`platform:${PASSWORD}`).toString('base64'));
      expect(failure.message).not.toContain('\u0007');
      expect(failure.message.length).toBeLessThan(700);
    }
  });

  test('a binding that answers garbage may have happened', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    provider.fail('garbage', changing);
    const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
    expect(failure).toMatchObject({ code: 'invalid_answer', mayHaveHappened: true });
    expect(failure.message).not.toContain('half');
  });

  test('an error that shows the variables keeps them', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    provider.fail('leak', changing);
    const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
    expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: true });
    expect(failure.message).toMatch(/answered 500\.$/);
  });

  test('a web page is the answer of somebody else', async ({ provider, endpoints, endpoint }) => {
    provider.fail('page', changing);
    const asking = [
      () => endpoints.create(endpoint, INSTANCE, callOf()),
      () => endpoints.bind(endpoint, INSTANCE, BINDING, callOf()),
      () => endpoints.unbind(endpoint, INSTANCE, BINDING, callOf()),
      () => endpoints.remove(endpoint, INSTANCE, callOf()),
    ];
    for (const ask of asking) {
      expect(await failureOf(ask())).toMatchObject({ code: 'invalid_answer', mayHaveHappened: true });
    }
  });

  test('nothing is gone because an ingress has no way to the provider', async ({ provider, endpoints, endpoint }) => {
    await endpoints.create(endpoint, INSTANCE, callOf());
    provider.fail('no way', changing);
    const asking = [
      () => endpoints.unbind(endpoint, INSTANCE, BINDING, callOf()),
      () => endpoints.remove(endpoint, INSTANCE, callOf()),
    ];
    for (const ask of asking) expect(await failureOf(ask())).toMatchObject({ code: 'invalid_answer', status: 404 });
  });

  test('an answer without end is not read to its end', async ({ provider, endpoints, endpoint }) => {
    provider.fail('endless', changing);
    const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
    expect(failure).toMatchObject({ code: 'invalid_answer', mayHaveHappened: true });
  });

  test('what is not HTTP is no answer', async ({ provider, endpoints, endpoint }) => {
    provider.fail('not http');
    const failure = await failureOf(endpoints.plans(endpoint, callOf()));
    expect(failure).toMatchObject({ code: 'invalid_answer', mayHaveHappened: false });
  });

  test('what took too long may have been done all the same', async ({ provider, endpoints, endpoint }) => {
    provider.fail('took too long', changing);
    const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
    expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: true, status: 408 });
  });

  test('whoever goes on with another protocol has not answered', async ({ provider, endpoints, endpoint }) => {
    provider.fail('other protocol', changing);
    const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
    expect(failure).toMatchObject({ code: 'invalid_answer', mayHaveHappened: true });
  });

  test('variables that no app can have are refused, without their values', async (world) => {
    const { provider, endpoints, endpoint } = world;
    await endpoints.create(endpoint, INSTANCE, callOf());
    provider.spoilVariables();
    const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
    expect(failure).toMatchObject({ code: 'invalid_answer', mayHaveHappened: true });
    expect(failure.message).not.toContain('spoiled');
  });

  test('a redirect is not followed', async ({ provider, endpoints, endpoint }) => {
    provider.fail('redirect');
    const failure = await failureOf(endpoints.plans(endpoint, callOf()));
    expect(failure).toMatchObject({ code: 'refused', status: 307 });
    expect(failure.message).toContain(
      `a redirect to ${new URL(REDIRECT_TARGET, endpoint.url).href}. Redirects are not`,
    );
    expect(failure.message).not.toContain('s3cret');
    expect(provider.requests.map((request) => request.path)).not.toContain(REDIRECT_TARGET);
  });

  test('a redirect is no plain no: what was asked for may have been done', async (world) => {
    const { provider, endpoints, endpoint } = world;
    provider.fail('redirect', changing);
    const asking = [
      () => endpoints.create(endpoint, INSTANCE, callOf()),
      () => endpoints.bind(endpoint, INSTANCE, BINDING, callOf()),
      () => endpoints.remove(endpoint, INSTANCE, callOf()),
    ];
    for (const ask of asking) expect(await failureOf(ask())).toMatchObject({ status: 307, mayHaveHappened: true });
  });
}

function addressCases(test: Test, kind: EndpointKind): void {
  test('addresses that may not be called are not called', async ({ provider, endpoint }) => {
    const port = Number(new URL(endpoint.url).port);
    const strict = endpointsForTest({ allowLoopback: false });
    const own = endpointsForTest({ allow: ['127.0.0.1'], ownPorts: () => [port] });
    for (const endpoints of [strict, own]) {
      const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
      expect(failure).toMatchObject({ code: 'forbidden_address', mayHaveHappened: false });
    }
    const metadata = endpointAt(kind, 'http://169.254.169.254');
    const anything = endpointsForTest({ allow: ['0.0.0.0/0', '169.254.169.254'] });
    expect(await failureOf(anything.create(metadata, INSTANCE, callOf()))).toMatchObject({ code: 'forbidden_address' });
    expect(provider.requests).toEqual([]);
  });

  test('a name that changes its address between check and call gains nothing', async ({ provider, endpoint }) => {
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '10.0.0.1']];
    const resolve = async () => (answers.shift() ?? []).map((address) => ({ address, family: 4 as const }));
    const endpoints = endpointsForTest({ resolve });
    const named = { ...endpoint, url: `http://provider.example.com:${new URL(endpoint.url).port}` };
    await endpoints.plans(named, callOf());
    expect(provider.requests.map((request) => request.headers.host)).toEqual([new URL(named.url).host]);
    for (let round = 0; round < 2; round += 1) {
      expect(await failureOf(endpoints.plans(named, callOf()))).toMatchObject({ code: 'forbidden_address' });
    }
    expect(await failureOf(endpoints.plans(named, callOf()))).toMatchObject({ code: 'unreachable' });
    expect(provider.requests).toHaveLength(1);
  });
}

function proxyCases(test: Test): void {
  test('hands a request on with its own credentials only', async ({ provider, endpoints, endpoint }) => {
    const headers = {
      authorization: 'bearer of-the-caller',
      cookie: 'session=1',
      'x-own': 'kept',
      connection: 'x-hop',
      'x-hop': '1',
    };
    const body = Readable.from([Buffer.from('some '), Buffer.from('body')]);
    const answer = await endpoints.proxy(endpoint, { method: 'PUT', path: '/echo//x?y=1', headers, body }, callOf());
    expect(answer.status).toBe(200);
    expect(JSON.parse(await text(answer.body))).toEqual({ method: 'PUT', body: 'some body' });
    const [seen] = provider.requests;
    expect(seen).toMatchObject({ path: '/echo//x', body: 'some body' });
    expect(seen?.query.get('y')).toBe('1');
    expect(seen?.headers).toMatchObject({ 'x-own': 'kept' });
    expect(seen?.headers.authorization).toMatch(/^Basic /);
    expect(seen?.headers).not.toHaveProperty('cookie');
    expect(seen?.headers).not.toHaveProperty('x-hop');
  });

  test('says itself who asks', async ({ provider, endpoints, endpoint }) => {
    const claimed = ['X-Tsuru-User', 'x_tsuru_user', 'x-tancho-instance-id', 'x-broker-api-originating-identity'];
    const headers = Object.fromEntries([...claimed, 'x-request-id'].map((name) => [name, 'somebody else']));
    const call = callOf();
    const answer = await endpoints.proxy(endpoint, { method: 'GET', path: '/echo/', headers, body: null }, call);
    answer.body.destroy();
    expect(JSON.stringify(provider.requests[0]?.headers)).not.toContain('somebody else');
    expect(provider.requests[0]?.headers).toMatchObject({ 'x-tsuru-user': call.user, 'x-request-id': call.requestId });
  });

  test('hands nothing on above the endpoint, and answers redirects', async ({ provider, endpoints, endpoint }) => {
    const below = { ...endpoint, url: `${endpoint.url}/echo/below` };
    for (const path of ['/../secret', '/%2e%2e/secret', '/\\..\\..\\secret', 'x', '@example.com/']) {
      const request = { method: 'GET', path, headers: {}, body: null };
      expect(await failureOf(endpoints.proxy(below, request, callOf()))).toMatchObject({ code: 'forbidden_address' });
    }
    expect(provider.requests).toEqual([]);
    provider.fail('redirect');
    const redirect = await endpoints.proxy(below, { method: 'GET', path: '/a', headers: {}, body: null }, callOf());
    expect([redirect.status, redirect.headers.location]).toEqual([307, REDIRECT_LOCATION]);
    redirect.body.destroy();
  });
}
