/** A provider that follows the platform's own contract, in memory. */
import { type FaultyAnswer, type FaultyServer, type ReceivedRequest, startFaultyServer } from './faulty-server.ts';

export interface HttpProvider extends FaultyServer {
  /** Instance -> the form it was created with. */
  readonly instances: ReadonlyMap<string, URLSearchParams>;
  /** `instance app-host`, and `instance app-host unit-host`. */
  readonly bindings: ReadonlySet<string>;
  /** What the next binding answers. */
  variables: unknown;
  /** Knows `/bind` only, for apps and units. */
  isOld: boolean;
  /** Knows nothing of plans, info, status and units. */
  isPlain: boolean;
  /** Says so when an app is bound already. */
  isStrict: boolean;
  state: number;
}

export async function startHttpProvider(): Promise<HttpProvider> {
  const instances = new Map<string, URLSearchParams>();
  const bindings = new Set<string>();

  function bind(request: ReceivedRequest, name: string, operation: string): FaultyAnswer {
    const form = new URLSearchParams(request.method === 'DELETE' ? request.query : request.body);
    const isUnit = operation === 'bind' && !provider.isOld;
    if (operation === 'bind-app' && provider.isOld) return { status: 404 };
    if (isUnit && provider.isPlain) return { status: 405 };
    if (!instances.has(name)) return { status: 404 };
    const host = form.get('app-host') ?? '';
    const key = isUnit ? `${name} ${host} ${form.get('unit-host') ?? ''}` : `${name} ${host}`;
    if (request.method === 'DELETE') return { status: bindings.delete(key) ? 200 : 404 };
    if (host === '') return { status: 400 };
    if (provider.isStrict && bindings.has(key)) return { status: 409 };
    bindings.add(key);
    return { status: 201, body: provider.variables };
  }

  function answer(request: ReceivedRequest): FaultyAnswer {
    const [, resources, name, operation] = request.path.split('/').map((part) => decodeURIComponent(part));
    if (resources === 'echo') return { status: 200, body: { method: request.method, body: request.body } };
    if (resources !== 'resources') return { status: 404 };
    if (name === 'plans') {
      return provider.isPlain ? { status: 404 } : { status: 200, body: [{ name: 'small', description: 'One.' }] };
    }
    if (name === undefined) {
      const form = new URLSearchParams(request.body);
      const wanted = form.get('name') ?? '';
      if (instances.has(wanted)) return { status: 409 };
      instances.set(wanted, form);
      return { status: 201 };
    }
    if (operation === 'bind' || operation === 'bind-app') return bind(request, name, operation);
    if (provider.isPlain && request.method === 'GET') return { status: 404 };
    if (operation === 'status') return { status: instances.has(name) ? provider.state : 404 };
    if (request.method === 'DELETE') return { status: instances.delete(name) ? 200 : 404 };
    return { status: 200, body: [{ label: 'Size', value: 3 }] };
  }

  const server = await startFaultyServer(answer);
  const provider: HttpProvider = {
    ...server,
    instances,
    bindings,
    variables: { DB_URL: 'db://user:secret@host/name', DB_PORT: '5432' },
    isOld: false,
    isPlain: false,
    isStrict: false,
    state: 204,
  };
  return provider;
}
