import { describe, expect, it } from 'vitest';
import { serviceEndpointConformance } from '../conformance.ts';
import { BINDING, callOf, endpointAt, endpointsForTest, failureOf, INSTANCE } from '../testing/fixtures.ts';
import { type HttpProvider, startHttpProvider } from '../testing/http-provider.ts';

serviceEndpointConformance('http', async () => {
  const provider = await startHttpProvider();
  return {
    ...provider,
    instanceCount: () => provider.instances.size,
    bindingCount: () => provider.bindings.size,
    spoilVariables: () => void (provider.variables = { FINE: 'spoiled', PORT: 'spoiled' }),
  };
});

const endpoints = endpointsForTest();

async function withProvider(run: (provider: HttpProvider, at: ReturnType<typeof endpointAt>) => Promise<void>) {
  const provider = await startHttpProvider();
  try {
    await run(provider, endpointAt('http', provider.url));
  } finally {
    await provider.close();
  }
}

describe('the contract of providers', () => {
  it('creates with a form', async () => {
    await withProvider(async (provider, endpoint) => {
      const call = callOf();
      await endpoints.create(endpoint, INSTANCE, call);
      expect([...(provider.instances.get('shop-db') ?? [])]).toEqual([
        ['name', 'shop-db'],
        ['user', 'ann@example.com'],
        ['team', 'shop'],
        ['plan', 'small'],
        ['description', 'of the shop'],
        ['tags', 'a'],
        ['tags', 'b'],
        ['eventid', call.requestId],
        ['parameters.seed', 'secret-seed-value'],
      ]);
      expect(provider.requests[0]?.headers).toMatchObject({
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'x-tsuru-user': 'ann@example.com',
        'x-tsuru-eventid': call.requestId,
        'x-tancho-instance-id': INSTANCE.id,
      });
    });
  });

  it('binds the app as a whole, and sends parameters of a removal in the query and the body', async () => {
    await withProvider(async (provider, endpoint) => {
      await endpoints.create(endpoint, { ...INSTANCE, name: 'a b/c' }, callOf());
      await endpoints.bind(endpoint, { ...INSTANCE, name: 'a b/c' }, BINDING, callOf());
      const bound = provider.requests.at(-1);
      expect(bound?.path).toBe('/resources/a%20b%2Fc/bind-app');
      const form = new URLSearchParams(bound?.body);
      expect([form.get('app-host'), form.get('app-name')]).toEqual(['web.example.com', 'web']);
      expect(form.getAll('app-internal-hosts')).toEqual(['10.0.0.1:1', '10.0.0.2:2']);
      await endpoints.unbind(endpoint, { ...INSTANCE, name: 'a b/c' }, BINDING, callOf());
      const unbound = provider.requests.at(-1);
      expect(unbound?.query.get('app-host')).toBe('web.example.com');
      expect(new URLSearchParams(unbound?.body).get('app-host')).toBe('web.example.com');
    });
  });

  it("takes what is bound already for its own, and an instance that exists already for somebody else's", async () => {
    await withProvider(async (provider, endpoint) => {
      provider.fail('twice', ({ method }) => method === 'POST');
      const made = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
      expect(made).toMatchObject({ code: 'exists', mayHaveHappened: false });
      provider.isStrict = true;
      const bound = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
      expect(bound).toMatchObject({ code: 'exists', mayHaveHappened: true });
    });
  });

  it('announces units, and takes them back', async () => {
    await withProvider(async (provider, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      await endpoints.bindUnit(endpoint, INSTANCE, BINDING, '10.0.0.3:3', callOf());
      expect([...provider.bindings]).toEqual(['shop-db web.example.com 10.0.0.3:3']);
      await endpoints.unbindUnit(endpoint, INSTANCE, BINDING, '10.0.0.3:3', callOf());
      expect([...provider.bindings]).toEqual([]);
    });
  });

  it('binds and unbinds at /bind where the provider knows nothing else', async () => {
    await withProvider(async (provider, endpoint) => {
      provider.isOld = true;
      await endpoints.create(endpoint, INSTANCE, callOf());
      const reported: string[] = [];
      const onNotify = async (unitHost: string): Promise<void> => {
        expect(provider.requests.at(-1)?.path).toMatch(/bind-app$/);
        reported.push(unitHost);
      };
      const variables = await endpoints.bind(endpoint, INSTANCE, BINDING, { ...callOf(), onNotify });
      expect(reported).toEqual(['10.0.0.1:1']);
      expect(variables.get('DB_PORT')).toBe('5432');
      expect(provider.requests.slice(-2).map((request) => request.path.split('/').at(-1))).toEqual([
        'bind-app',
        'bind',
      ]);
      expect(new URLSearchParams(provider.requests.at(-1)?.body).get('unit-host')).toBe('10.0.0.1:1');
      const keys = provider.requests.slice(-2).map((request) => request.headers['idempotency-key']);
      expect(new Set(keys).size).toBe(1);
      await endpoints.unbind(endpoint, INSTANCE, BINDING, callOf());
      expect(provider.bindings.size).toBe(0);
    });
  });

  it('an older way of unbinding that is answered neither yes nor with not knowing it leaves the binding', async () => {
    await withProvider(async (provider, endpoint) => {
      provider.isOld = true;
      await endpoints.create(endpoint, INSTANCE, callOf());
      await endpoints.bind(endpoint, INSTANCE, BINDING, callOf());
      for (const fault of ['not let in', 'redirect', 'took too long'] as const) {
        provider.fail(fault, ({ path }) => path.endsWith('/bind'));
        expect(await failureOf(endpoints.unbind(endpoint, INSTANCE, BINDING, callOf()))).toMatchObject({
          code: 'refused',
        });
      }
      expect(provider.bindings.size).toBe(1);
    });
  });

  it('quotes no secret from a request that a provider quotes', async () => {
    await withProvider(async (provider, endpoint) => {
      provider.fail('say no');
      const parameters = { seed: 'canary 1&=%/+', other: 'änother canary\n2' };
      const { message } = await failureOf(endpoints.create(endpoint, { ...INSTANCE, parameters }, callOf()));
      expect(message).toContain('parameters.seed=***');
      expect(message).not.toContain('canary');
    });
  });

  it('refuses what no environment could hold as it was given', async () => {
    await withProvider(async (provider, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      provider.variables = { HALF: '\ud800' };
      const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
      expect(failure).toMatchObject({ code: 'invalid_answer', message: expect.stringContaining('HALF') });
    });
  });

  it('does without what a provider does not offer', async () => {
    await withProvider(async (provider, endpoint) => {
      provider.isPlain = true;
      await endpoints.create(endpoint, { ...INSTANCE, plan: '' }, callOf());
      expect(provider.instances.get('shop-db')?.has('plan')).toBe(false);
      expect(await endpoints.plans(endpoint, callOf())).toEqual([]);
      expect(await endpoints.info(endpoint, INSTANCE, callOf())).toEqual([]);
      expect(await endpoints.status(endpoint, INSTANCE, callOf())).toBe('unknown');
      await endpoints.bindUnit(endpoint, INSTANCE, BINDING, '10.0.0.3:3', callOf());
    });
  });

  it('reads the status from the status code', async () => {
    await withProvider(async (provider, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      for (const [state, status] of [
        [200, 'up'],
        [202, 'pending'],
        [500, 'down'],
      ] as const) {
        provider.state = state;
        expect(await endpoints.status(endpoint, INSTANCE, callOf())).toBe(status);
      }
      provider.state = 418;
      expect(await failureOf(endpoints.status(endpoint, INSTANCE, callOf()))).toMatchObject({ code: 'refused' });
    });
  });

  it('a provider may give no variables, and says when it is not ready', async () => {
    await withProvider(async (provider, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      for (const none of [null, {}]) {
        provider.variables = none;
        expect((await endpoints.bind(endpoint, INSTANCE, BINDING, callOf())).size).toBe(0);
      }
      const unknown = { ...INSTANCE, name: 'nobody' };
      const failure = await failureOf(endpoints.bind(endpoint, unknown, BINDING, callOf()));
      expect(failure).toMatchObject({ code: 'not_found', mayHaveHappened: false, status: 404 });
    });
  });

  it.each([
    [{ DB_PORT: 5432 }],
    [{ 'DB PORT': 'x' }],
    [{ DB: 'a\0b' }],
    [{ TANCHO_APP: 'x' }],
    [['x']],
    ['x'],
    [{ DB: 'x'.repeat(70_000) }],
    [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`V${index}`, 'x']))],
  ])('refuses variables that are none (%#)', async (variables) => {
    await withProvider(async (provider, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      provider.variables = variables;
      const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
      expect(failure).toMatchObject({ code: 'invalid_answer', mayHaveHappened: true });
    });
  });
});
