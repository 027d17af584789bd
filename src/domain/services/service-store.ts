import type { Binding, BindingSummary, Instance, InstanceSummary, Service, ServiceSummary } from './service.ts';

/** What must be remembered about services. Readers answer null for what is missing; secrets come decrypted. */
export interface ServiceReader {
  service(name: string): Promise<Service | null>;
  /** Sorted by name. */
  services(): Promise<ServiceSummary[]>;
  /** What its owners have written about it; '' for a service that is not there. By itself, for it may be long. */
  serviceDoc(name: string): Promise<string>;
  instance(name: string): Promise<Instance | null>;
  instanceById(id: string): Promise<Instance | null>;
  /** Sorted by name; of one service, or of all. */
  instances(service?: string): Promise<InstanceSummary[]>;
  binding(id: string): Promise<Binding | null>;
  /** Of an app, of an instance, or of both; oldest first. */
  bindings(filter: BindingFilter): Promise<Binding[]>;
  /** The same; without a filter of all. */
  bindingSummaries(filter?: BindingFilter): Promise<BindingSummary[]>;
}

export type ServiceChange = Partial<Omit<Service, 'name' | 'createdAt'> & { readonly doc: string }>;

export type BindingFilter =
  { readonly app: string; readonly instance?: string } | { readonly app?: string; readonly instance: string };

export interface ServiceWriter {
  /** Without documentation. Throws PlatformError `service.name_taken`, `team.not_found`. */
  insertService(service: Service): Promise<void>;
  /** Throws PlatformError `service.not_found`, `team.not_found`. */
  updateService(name: string, change: ServiceChange): Promise<void>;
  /** Throws PlatformError `service.has_instances`. */
  deleteService(name: string): Promise<void>;
  /** Throws PlatformError `instance.name_taken`, `service.not_found`, `team.not_found`. */
  insertInstance(instance: Instance): Promise<void>;
  /** One that is gone stays gone. Throws PlatformError `team.not_found`. */
  updateInstance(
    id: string,
    change: Partial<
      Pick<Instance, 'teamOwner' | 'teams' | 'plan' | 'description' | 'tags' | 'state' | 'attempts' | 'problem'>
    >,
  ): Promise<void>;
  /** With its bindings. */
  deleteInstance(id: string): Promise<void>;
  /** Throws PlatformError `binding.exists`, `instance.not_found`. Outlives its app. */
  insertBinding(binding: Binding): Promise<void>;
  /** One that is gone stays gone. */
  updateBinding(
    id: string,
    change: Partial<Pick<Binding, 'state' | 'vars' | 'names' | 'unitHosts' | 'attempts' | 'problem'>>,
  ): Promise<void>;
  deleteBinding(id: string): Promise<void>;
}
