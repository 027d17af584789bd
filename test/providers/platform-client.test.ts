/** Both sides of the contract meet: the platform's own client and the server kit, on good days and bad ones. */
import { afterEach, expect, it } from 'vitest';
import { createServiceEndpoints } from '../../src/backends/service-endpoint/index.ts';
import {
  type Endpoint,
  type EndpointBinding,
  type EndpointCall,
  EndpointFailure,
  type EndpointInstance,
} from '../../src/domain/services/service-endpoint.ts';
import { SILENT } from '../../src/lib/logger.ts';
import { type MockProvider, startMockProvider } from '../../src/providers/mock/mock.ts';
import type { Rule } from '../../src/providers/mock/rules.ts';

const client = createServiceEndpoints({
  allow: [],
  allowLoopback: true,
  ownPorts: () => [],
  logger: SILENT,
  deadlines: { connect: 1_000, short: 1_000, long: 1_000, asynchronous: 1_000, poll: 5 },
});

let mock: MockProvider | null = null;
afterEach(async () => {
  await mock?.stop();
  mock = null;
});

async function started(...rules: Rule[]): Promise<{ mock: MockProvider; endpoint: Endpoint }> {
  mock = await startMockProvider({ rules });
  const { url, username, password } = mock;
  return { mock, endpoint: { kind: 'http', service: 'mock', url, username, password } };
}

function instance(name: string, more: Partial<EndpointInstance> = {}): EndpointInstance {
  const facts = { team: 'red', plan: 'small', user: 'ann@example.com', description: '', tags: [], parameters: {} };
  return { id: `id-of-${name}`, name, ...facts, ...more };
}

const binding = (id: string): EndpointBinding => ({
  id,
  app: 'web',
  appHost: 'web.example.com',
  unitHosts: ['10.0.0.1:1'],
});

let calls = 0;
function call(idempotencyKey = `key-${(calls += 1)}`): EndpointCall {
  return { idempotencyKey, user: 'ann@example.com', requestId: 'r', signal: new AbortController().signal };
}

async function failureOf(work: Promise<unknown>): Promise<{ code: string; mayHaveHappened: boolean }> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EndpointFailure)) throw new Error('expected an EndpointFailure', { cause: error });
  return { code: error.code, mayHaveHappened: error.mayHaveHappened };
}

it('a whole life', async () => {
  const { mock: provider, endpoint } = await started();
  const db = instance('db');
  expect((await client.plans(endpoint, call())).map(({ name }) => name)).toEqual(['small', 'large']);
  await client.create(endpoint, db, call());
  expect(await client.status(endpoint, db, call())).toBe('up');
  const variables = await client.bind(endpoint, db, binding('b1'), call());
  expect(Object.fromEntries(variables)).toEqual(
    provider.instances.get('db')?.bindings.get('web.example.com')?.variables,
  );
  await client.bindUnit(endpoint, db, binding('b1'), '10.0.0.2:2', call());
  expect(await client.info(endpoint, db, call())).toContainEqual({ label: 'Bound apps', value: 'web.example.com' });
  await client.unbindUnit(endpoint, db, binding('b1'), '10.0.0.2:2', call());
  await client.unbind(endpoint, db, binding('b1'), call());
  await client.unbind(endpoint, db, binding('b1'), call());
  await client.remove(endpoint, db, call());
  await client.remove(endpoint, db, call());
  expect([...provider.instances.keys()]).toEqual([]);
});

it('every no has its meaning', async () => {
  const { endpoint } = await started();
  const db = instance('db');
  const wrong = { ...endpoint, password: 'wrong' };
  const no = (code: string) => ({ code, mayHaveHappened: false });
  expect(await failureOf(client.create(wrong, db, call()))).toEqual(no('refused'));
  expect(await failureOf(client.create(endpoint, instance('db', { plan: 'huge' }), call()))).toEqual(no('refused'));
  expect(await failureOf(client.bind(endpoint, db, binding('b1'), call()))).toEqual(no('not_found'));
  expect(await failureOf(client.bind(endpoint, db, { ...binding('b1'), unitHosts: [] }, call()))).toEqual(
    no('not_found'),
  );
  await client.create(endpoint, db, call());
  expect(await failureOf(client.create(endpoint, db, call()))).toEqual(no('exists'));
});

it('a late twin neither brings back nor takes away', async () => {
  const { mock: provider, endpoint } = await started();
  const db = instance('db');
  await client.create(endpoint, db, call());
  await client.unbind(endpoint, db, binding('never came'), call());
  expect(await failureOf(client.bind(endpoint, db, binding('never came'), call()))).toMatchObject({ code: 'exists' });
  await client.bind(endpoint, db, binding('second'), call());
  await client.unbind(endpoint, db, binding('first'), call());
  expect(provider.instances.get('db')?.bindings.size).toBe(1);
  await client.remove(endpoint, instance('db', { id: 'an earlier one' }), call());
  expect(provider.instances.size).toBe(1);
});

it.each<[Rule['do'], string, boolean]>([
  ['fail', 'refused', true],
  ['hang-after', 'timeout', true],
  ['die-after', 'unreachable', true],
  ['garbage', 'invalid_answer', true],
  ['wrong-types', 'invalid_answer', true],
  ['bad-names', 'invalid_answer', true],
  ['huge', 'invalid_answer', true],
  ['drip', 'timeout', true],
  ['cut', 'unreachable', true],
])('a bind that does %s is %s', async (misdeed, code, mayHaveHappened) => {
  const { mock: provider, endpoint } = await started({ on: 'bind', do: misdeed });
  await client.create(endpoint, instance('db'), call());
  expect(await failureOf(client.bind(endpoint, instance('db'), binding('b1'), call()))).toEqual({
    code,
    mayHaveHappened,
  });
  await client.unbind(endpoint, instance('db'), binding('b1'), call());
  expect(provider.instances.get('db')?.bindings.size).toBe(0);
});
