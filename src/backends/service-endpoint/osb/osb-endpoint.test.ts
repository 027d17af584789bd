import { describe, expect, it } from 'vitest';
import { serviceEndpointConformance } from '../conformance.ts';
import { BINDING, callOf, endpointAt, endpointsForTest, failureOf, INSTANCE } from '../testing/fixtures.ts';
import { type OsbBroker, startOsbBroker } from '../testing/osb-broker.ts';
import { flatten } from './credentials.ts';

serviceEndpointConformance('osb', async () => {
  const broker = await startOsbBroker();
  return {
    ...broker,
    instanceCount: () => broker.instances.size,
    bindingCount: () => broker.bindings.size,
    spoilVariables: () => void (broker.credentials = { 'a-b': 'spoiled', a_b: 'spoiled' }),
  };
});

const endpoints = endpointsForTest();

async function withBroker(run: (broker: OsbBroker, at: ReturnType<typeof endpointAt>) => Promise<void>): Promise<void> {
  const broker = await startOsbBroker();
  try {
    await run(broker, endpointAt('osb', broker.url));
  } finally {
    await broker.close();
  }
}

describe('a broker', () => {
  it('is asked as the specification says', async () => {
    await withBroker(async (broker, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      await endpoints.bind(endpoint, INSTANCE, BINDING, callOf());
      for (const { headers } of broker.requests) {
        expect(headers['x-broker-api-version']).toBe('2.17');
        const [platform, identity = ''] = String(headers['x-broker-api-originating-identity']).split(' ');
        expect(platform).toBe('tancho');
        expect(JSON.parse(Buffer.from(identity, 'base64').toString())).toEqual({ user_id: 'ann@example.com' });
      }
      expect(JSON.parse(broker.instances.get(INSTANCE.id) ?? '')).toEqual({
        service_id: 'service-1',
        plan_id: 'plan-1',
        context: { platform: 'tancho', team: 'shop', instance_name: 'shop-db' },
        organization_guid: 'shop',
        space_guid: 'shop',
        parameters: { seed: 'secret-seed-value' },
      });
      expect(JSON.parse(broker.bindings.get(BINDING.id) ?? '')).toMatchObject({
        app_guid: 'web',
        bind_resource: { app_guid: 'web', route: 'web.example.com' },
      });
    });
  });

  it('that speaks another version says so, and is not one that is not ready yet', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.version = '1.0';
      const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
      expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: false, status: 412 });
      expect(failure.message).toContain('version 2.17');
    });
  });

  it('may work on after its answer', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.polls = 3;
      await endpoints.create(endpoint, INSTANCE, callOf());
      expect(broker.instances.size).toBe(1);
      const variables = await endpoints.bind(endpoint, INSTANCE, BINDING, callOf());
      expect(variables.get('DB_PORT')).toBe('5432');
      await endpoints.unbind(endpoint, INSTANCE, BINDING, callOf());
      await endpoints.remove(endpoint, INSTANCE, callOf());
      expect([broker.instances.size, broker.bindings.size]).toEqual([0, 0]);
    });
  });

  it('is asked on when it stumbles while it works', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.polls = 2;
      broker.fail('say all', (request) => request.path.endsWith('/last_operation'), 2);
      await endpoints.create(endpoint, INSTANCE, callOf());
      expect(broker.instances.size).toBe(1);
    });
  });

  it('that fails afterwards leaves something to be undone', async () => {
    await withBroker(async (broker, endpoint) => {
      Object.assign(broker, { polls: 1, fails: true });
      const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
      expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: true });
      expect(failure.message).toContain('The disk is full.');
    });
  });

  it('that never finishes is given up, by its own bound, by ours, or by the caller', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.polls = Infinity;
      broker.service['plans'] = [{ id: 'plan-1', name: 'small', maximum_polling_duration: 0.2 }];
      const failure = await failureOf(endpoints.create(endpoint, INSTANCE, callOf()));
      expect(failure).toMatchObject({ code: 'timeout', mayHaveHappened: true });
      // Its own bound would be over before the caller gives up, on a busy machine.
      broker.service['plans'] = [{ id: 'plan-1', name: 'small' }];
      const controller = new AbortController();
      const other = { ...INSTANCE, id: 'other' };
      const work = failureOf(endpoints.create(endpoint, other, callOf(controller.signal)));
      await expect.poll(() => broker.requests.filter(({ path }) => path.includes('other')).length).toBeGreaterThan(2);
      controller.abort();
      expect(await work).toMatchObject({ code: 'timeout', mayHaveHappened: true });
    });
  });

  it('that is busy is waited for', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.busy = 3;
      await endpoints.create(endpoint, INSTANCE, callOf());
      expect(broker.instances.size).toBe(1);
      broker.busy = Infinity;
      const hasty = endpointsForTest({ deadlines: { long: 1_000, poll: 5 } });
      const failure = await failureOf(hasty.bind(endpoint, INSTANCE, BINDING, callOf()));
      expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: false, status: 422 });
      expect(failure.message).toContain('ConcurrencyError');
    });
  });

  it('that is busy after a removal that broke off may be busy with just that', async () => {
    await withBroker(async (broker, endpoint) => {
      await endpoints.create(endpoint, INSTANCE, callOf());
      broker.failInTurn('reset after', 'busy', 'say no');
      const failure = await failureOf(endpoints.remove(endpoint, INSTANCE, callOf()));
      expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: true, status: 400 });
    });
  });

  it('whose address may no longer be called while it works on has not refused what it works on', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.polls = 1;
      const resolve = async () => {
        const isAccepted = broker.requests.some(({ method }) => method === 'PUT');
        return [{ address: isAccepted ? '169.254.169.254' : '127.0.0.1', family: 4 as const }];
      };
      const named = { ...endpoint, url: `http://broker.test:${new URL(endpoint.url).port}` };
      const failure = await failureOf(endpointsForTest({ resolve }).create(named, INSTANCE, callOf()));
      expect(failure).toMatchObject({ code: 'forbidden_address', mayHaveHappened: true });
    });
  });

  it('takes the same request twice', async () => {
    await withBroker(async (broker, endpoint) => {
      for (let round = 0; round < 2; round += 1) {
        await endpoints.create(endpoint, INSTANCE, callOf());
        await endpoints.bind(endpoint, INSTANCE, BINDING, callOf());
      }
      expect([broker.instances.size, broker.bindings.size]).toEqual([1, 1]);
    });
  });

  it('whose catalog lacks the service or the plan cannot be ordered from', async () => {
    await withBroker(async (broker, endpoint) => {
      const plan = await failureOf(endpoints.create(endpoint, { ...INSTANCE, plan: 'huge' }, callOf()));
      expect(plan.message).toContain('It has: small');
      const service = await failureOf(endpoints.create({ ...endpoint, service: 'queue' }, INSTANCE, callOf()));
      expect([plan.code, service.code]).toEqual(['refused', 'refused']);
      broker.service['requires'] = ['volume_mount'];
      expect((await failureOf(endpoints.create(endpoint, INSTANCE, callOf()))).message).toContain('volume_mount');
      expect(broker.requests.every((request) => request.method === 'GET')).toBe(true);
    });
  });

  it('takes the only plan when none is named', async () => {
    await withBroker(async (broker, endpoint) => {
      await endpoints.create(endpoint, { ...INSTANCE, plan: '' }, callOf());
      expect(broker.instances.size).toBe(1);
    });
  });

  it('may offer what cannot be bound', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.service['bindable'] = false;
      await endpoints.create(endpoint, INSTANCE, callOf());
      const failure = await failureOf(endpoints.bind(endpoint, INSTANCE, BINDING, callOf()));
      expect(failure).toMatchObject({ code: 'refused', mayHaveHappened: false });
    });
  });

  it('reports the status of its last operation, or of the instance itself', async () => {
    await withBroker(async (broker, endpoint) => {
      broker.polls = 2;
      await endpoints.create(endpoint, INSTANCE, callOf());
      expect(await endpoints.status(endpoint, INSTANCE, callOf())).toBe('up');
      const gone = { ...INSTANCE, id: 'nobody' };
      expect(await failureOf(endpoints.status(endpoint, gone, callOf()))).toMatchObject({ code: 'not_found' });
      broker.service['instances_retrievable'] = false;
      expect(await endpoints.status(endpoint, gone, callOf())).toBe('unknown');
      expect(await endpoints.info(endpoint, INSTANCE, callOf())).toEqual([]);
    });
  });
});

describe('credentials', () => {
  it('become variables with the name of the service before them', () => {
    const credentials = {
      uri: 'u',
      port: 1,
      tls: { 'ca cert': 'c', on: true },
      hosts: ['a', 'b'],
      none: null,
      '1st': 'x',
    };
    expect(flatten('my-sql', credentials)).toEqual([
      ['MY_SQL_URI', 'u'],
      ['MY_SQL_PORT', '1'],
      ['MY_SQL_TLS_CA_CERT', 'c'],
      ['MY_SQL_TLS_ON', 'true'],
      ['MY_SQL_HOSTS', '["a","b"]'],
      ['MY_SQL_1ST', 'x'],
    ]);
    expect(flatten('3scale', { key: 'k' })).toEqual([['_3SCALE_KEY', 'k']]);
    expect(flatten('x', { a: { b: { c: { d: { e: { f: 1 } } } } } })).toBeNull();
  });
});
