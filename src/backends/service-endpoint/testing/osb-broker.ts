/** A broker that follows the Open Service Broker API 2.17, in memory: synchronous or asynchronous, one operation at a time. */
import { type FaultyAnswer, type FaultyServer, type ReceivedRequest, startFaultyServer } from './faulty-server.ts';

const INSTANCE = /^\/v2\/service_instances\/([^/]+)(?:\/service_bindings\/([^/]+))?(\/last_operation)?$/;

interface Operation {
  readonly id: string;
  left: number;
  readonly finish: () => void;
}

export interface OsbBroker extends FaultyServer {
  /** Id -> body it was made with. Those under way are not in it. */
  readonly instances: ReadonlyMap<string, string>;
  readonly bindings: ReadonlyMap<string, string>;
  /** How often an operation is asked about before it is done; 0: done with the answer. */
  polls: number;
  /** Operations end in failure, after having done what they were to do. */
  fails: boolean;
  /** Refuses so many changes as busy. */
  busy: number;
  credentials: unknown;
  /** The only one it speaks. */
  version: string;
  readonly service: Record<string, unknown>;
}

export async function startOsbBroker(): Promise<OsbBroker> {
  const instances = new Map<string, string>();
  const bindings = new Map<string, string>();
  const operations = new Map<string, Operation>();
  let count = 0;

  function change(key: string, finish: () => void, done: FaultyAnswer): FaultyAnswer {
    const underWay = operations.get(key);
    if (underWay !== undefined && underWay.left > 0) return { status: 202, body: { operation: underWay.id } };
    if (broker.polls === 0) {
      finish();
      operations.delete(key);
      return done;
    }
    count += 1;
    const id = `operation ${count} & more`;
    operations.set(key, { id, left: broker.polls, finish });
    return { status: 202, body: { operation: id } };
  }

  function lastOperation(request: ReceivedRequest, key: string): FaultyAnswer {
    const operation = operations.get(key);
    if (operation === undefined) return { status: 404, body: {} };
    if (request.query.get('operation') !== operation.id) return { status: 400, body: {} };
    operation.left -= 1;
    if (operation.left > 0) return { status: 200, body: { state: 'in progress' }, headers: { 'retry-after': '0' } };
    if (operation.left === 0) operation.finish();
    if (broker.fails) return { status: 200, body: { state: 'failed', description: 'The disk is full.' } };
    return { status: 200, body: { state: 'succeeded' } };
  }

  function put(request: ReceivedRequest, instance: string, binding: string | undefined): FaultyAnswer {
    const kept = binding === undefined ? instances : bindings;
    const key = binding ?? instance;
    if (binding !== undefined && !instances.has(instance)) return { status: 400, body: {} };
    const before = kept.get(key);
    if (before !== undefined && before !== request.body) return { status: 409, body: {} };
    const body = binding === undefined ? {} : { credentials: broker.credentials };
    if (before !== undefined) return { status: 200, body };
    return change(key, () => kept.set(key, request.body), { status: 201, body });
  }

  function remove(key: string, kept: Map<string, string>): FaultyAnswer {
    if (!kept.has(key) && (operations.get(key)?.left ?? 0) <= 0) return { status: 410, body: {} };
    return change(key, () => kept.delete(key), { status: 200, body: {} });
  }

  function answer(request: ReceivedRequest): FaultyAnswer {
    if (request.path.startsWith('/echo')) return { status: 200, body: { method: request.method, body: request.body } };
    if (request.headers['x-broker-api-version'] !== broker.version) return { status: 412, body: {} };
    if (request.path === '/v2/catalog') return { status: 200, body: { services: [broker.service] } };
    const [, instance = '', binding, poll] = INSTANCE.exec(request.path) ?? [];
    const key = binding ?? instance;
    if (poll !== undefined) return lastOperation(request, key);
    if (request.method === 'GET') {
      if (binding === undefined)
        return instances.has(key) ? { status: 200, body: { dashboard_url: 'http://d' } } : { status: 404 };
      return bindings.has(key) ? { status: 200, body: { credentials: broker.credentials } } : { status: 404, body: {} };
    }
    const isAsync = request.query.get('accepts_incomplete') === 'true';
    if (!isAsync && broker.polls > 0) return { status: 422, body: { error: 'AsyncRequired' } };
    if (broker.busy > 0) {
      broker.busy -= 1;
      return { status: 422, body: { error: 'ConcurrencyError' }, headers: { 'retry-after': '0' } };
    }
    if (request.method === 'PUT') return put(request, instance, binding);
    const order = [request.query.get('service_id'), request.query.get('plan_id')].join();
    if (order !== 'service-1,plan-1') return { status: 400, body: {} };
    return remove(key, binding === undefined ? instances : bindings);
  }

  const server = await startFaultyServer(answer);
  const broker: OsbBroker = {
    ...server,
    instances,
    bindings,
    polls: 0,
    fails: false,
    busy: 0,
    version: '2.17',
    credentials: { url: 'db://user:secret@host/name', port: 5432 },
    service: {
      name: 'db',
      id: 'service-1',
      description: 'A database.',
      bindable: true,
      instances_retrievable: true,
      bindings_retrievable: true,
      plans: [{ id: 'plan-1', name: 'small', description: 'One.' }],
    },
  };
  return broker;
}
