/** Services over records in memory and a provider in memory, for tests of the API alone. */
import { MemoryEndpoint } from '../../src/backends/service-endpoint/memory/memory-endpoint.ts';
import type { Act } from '../../src/domain/act.ts';
import type { App, EnvVar } from '../../src/domain/apps/app.ts';
import type { CallerStore } from '../../src/domain/caller-now.ts';
import type { Rollouts } from '../../src/domain/rollouts/rollouts.ts';
import { PlatformError } from '../../src/domain/errors.ts';
import { Leases } from '../../src/domain/leases.ts';
import type { Journal } from '../../src/domain/logs/journal.ts';
import { createBindingAttempts } from '../../src/domain/services/binding-attempts.ts';
import { createBindings } from '../../src/domain/services/bindings.ts';
import { createInstances } from '../../src/domain/services/instances.ts';
import { Orphans } from '../../src/domain/services/orphans.ts';
import { Provider } from '../../src/domain/services/provider.ts';
import type { Binding, Instance, Service } from '../../src/domain/services/service.ts';
import { createServiceProxy } from '../../src/domain/services/service-proxy.ts';
import type {
  BindingFilter,
  ServiceChange,
  ServiceReader,
  ServiceWriter,
} from '../../src/domain/services/service-store.ts';
import { createServices } from '../../src/domain/services/services.ts';
import type { Store } from '../../src/domain/store.ts';
import type { TeamReader } from '../../src/domain/teams/team-store.ts';
import { SILENT } from '../../src/lib/logger.ts';

interface MemoryServicesDeps {
  readonly act: Act;
  readonly now: () => Date;
  readonly accounts: CallerStore & Pick<TeamReader, 'team'>;
  readonly apps: ReadonlyMap<string, App>;
  readonly putEnv: (app: string, vars: readonly EnvVar[]) => void;
}

class Records implements ServiceReader, ServiceWriter {
  readonly #services = new Map<string, Service>();
  readonly #docs = new Map<string, string>();
  readonly #instances = new Map<string, Instance>();
  readonly #bindings = new Map<string, Binding>();

  service = async (name: string): Promise<Service | null> => this.#services.get(name) ?? null;
  services = async (): Promise<Service[]> => sorted([...this.#services.values()]);
  serviceDoc = async (name: string): Promise<string> => this.#docs.get(name) ?? '';
  instance = async (name: string): Promise<Instance | null> =>
    [...this.#instances.values()].find((each) => each.name === name) ?? null;
  instanceById = async (id: string): Promise<Instance | null> => this.#instances.get(id) ?? null;
  instances = async (service?: string): Promise<Instance[]> =>
    sorted([...this.#instances.values()].filter((each) => service === undefined || each.service === service));
  binding = async (id: string): Promise<Binding | null> => this.#bindings.get(id) ?? null;
  bindingSummaries = (filter?: BindingFilter): Promise<Binding[]> => this.bindings(filter);
  bindings = async ({ app, instance }: Partial<BindingFilter> = {}): Promise<Binding[]> =>
    [...this.#bindings.values()].filter(
      (each) => (app === undefined || each.app === app) && (instance === undefined || each.instance === instance),
    );
  insertService = async (service: Service): Promise<void> => {
    const { name } = service;
    if (this.#services.has(name)) {
      throw new PlatformError('service.name_taken', `Service with name ${name} already exists.`);
    }
    this.#services.set(name, service);
  };
  updateService = async (name: string, { doc, ...change }: ServiceChange): Promise<void> => {
    update(this.#services, name, change);
    if (doc !== undefined) this.#docs.set(name, doc);
  };
  deleteService = async (name: string): Promise<void> => void this.#services.delete(name);
  insertInstance = async (instance: Instance): Promise<void> => void this.#instances.set(instance.id, instance);
  updateInstance = async (id: string, change: Partial<Instance>): Promise<void> => update(this.#instances, id, change);
  deleteInstance = async (id: string): Promise<void> => void this.#instances.delete(id);
  insertBinding = async (binding: Binding): Promise<void> => void this.#bindings.set(binding.id, binding);
  updateBinding = async (id: string, change: Partial<Binding>): Promise<void> => update(this.#bindings, id, change);
  deleteBinding = async (id: string): Promise<void> => void this.#bindings.delete(id);
}

function update<T extends object>(map: Map<string, T>, key: string, change: Partial<T>): void {
  const before = map.get(key);
  if (before !== undefined) map.set(key, { ...before, ...change });
}

function sorted<T extends { readonly name: string }>(list: T[]): T[] {
  return list.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The apps of these tests have no release that could be replaced, so nothing is ever rolled out. */
export function createMemoryServices({ act, now, accounts, apps, putEnv }: MemoryServicesDeps) {
  const records = new Records();
  const reads = {
    ...accounts,
    ...records,
    app: async (name: string) => apps.get(name) ?? null,
    env: async () => [],
    units: async () => [],
    release: async () => null,
    setEnv: async (app: string, vars: readonly EnvVar[]) => putEnv(app, vars),
    unsetEnv: async () => {},
    lease: async () => 1,
    renewLease: async () => true,
    lostLeases: async () => [],
    releaseLease: async () => {},
  };
  const store = { ...reads, transact: (work: (tx: unknown) => Promise<unknown>) => work(reads) } as unknown as Store;
  const endpoint = new MemoryEndpoint();
  const provider = new Provider(endpoint);
  const leases = new Leases(store, 'memory');
  const orphans = new Orphans({ store, provider, leases, logger: SILENT, now });
  const settings = { domain: 'apps.test' };
  const attempts = createBindingAttempts({ store, provider, orphans, settings, now });
  const journal = { note: async () => {} } as unknown as Journal;
  const rollouts = {} as Rollouts;
  return {
    endpoint,
    useCases: {
      services: createServices({ store, provider, act, now }),
      instances: createInstances({ store, provider, orphans, act, now }),
      bindings: createBindings({ store, attempts, orphans, leases, rollouts, journal, act, now }),
      serviceProxy: createServiceProxy({ store, provider, act }),
    },
  };
}
