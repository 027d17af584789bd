/** Services and their instances (specification 4.2 and 4.3). */
import type { Progress } from './calls.ts';
import type { OperationAnswer, Requests } from './requests.ts';

type InstanceInfo = OperationAnswer<'instances.info'>;
type InstanceElement = OperationAnswer<'services.info'>[number];
type ServiceEntry = OperationAnswer<'instances.list'>[number];
type OwnedService = OperationAnswer<'services.list'>[number];
type ServicePlan = OperationAnswer<'services.plans'>[number];

export interface ServicesClient {
  /** Those that your teams own, with all their instances. */
  listOwned(): Promise<readonly OwnedService[]>;
  /** `manifest`: YAML. */
  create(manifest: string): Promise<void>;
  update(manifest: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** The instances that you have access to. */
  info(name: string): Promise<readonly InstanceElement[]>;
  doc(name: string): Promise<string>;
  setDoc(name: string, doc: string): Promise<void>;
  grant(name: string, team: string): Promise<void>;
  revoke(name: string, team: string): Promise<void>;
  plans(name: string): Promise<readonly ServicePlan[]>;
}

interface NewInstance {
  readonly name: string;
  readonly service: string;
  readonly plan?: string;
  readonly team?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface InstancesClient {
  /** The services that you may use, with the instances that you have access to. */
  list(filter?: { readonly app?: string }): Promise<readonly ServiceEntry[]>;
  create(instance: NewInstance): Promise<void>;
  info(name: string): Promise<InstanceInfo>;
  /** What is absent stays as it is. */
  update(
    name: string,
    change: { readonly description?: string; readonly tags?: readonly string[]; readonly team?: string },
  ): Promise<void>;
  /** One sentence. */
  status(name: string): Promise<string>;
  remove(name: string, options?: Progress & { readonly unbindAll?: boolean; readonly force?: boolean }): Promise<void>;
  /** The variables, once the app runs with them. */
  bind(
    name: string,
    app: string,
    /** `as`: how variables are to be called, `NEW_NAME=NAME_OF_THE_SERVICE`. */
    options?: { readonly noRestart?: boolean; readonly as?: readonly string[] },
  ): Promise<Readonly<Record<string, string>>>;
  unbind(
    name: string,
    app: string,
    options?: Progress & { readonly noRestart?: boolean; readonly force?: boolean },
  ): Promise<void>;
  grant(name: string, team: string): Promise<void>;
  revoke(name: string, team: string): Promise<void>;
}

export function servicesClient({ request }: Requests): ServicesClient {
  return {
    listOwned: () => request('services.list'),
    async create(manifest) {
      await request('services.create', { body: manifest });
    },
    update: (manifest) => request('services.update', { body: manifest }),
    remove: (service) => request('services.remove', { params: { service } }),
    info: (service) => request('services.info', { params: { service } }),
    doc: (service) => request('services.doc', { params: { service } }),
    setDoc: (service, doc) => request('services.doc_set', { params: { service }, body: doc }),
    grant: (service, team) => request('services.grant', { params: { service, team } }),
    revoke: (service, team) => request('services.revoke', { params: { service, team } }),
    plans: (service) => request('services.plans', { params: { service } }),
  };
}

export function instancesClient({ request, progress: during }: Requests): InstancesClient {
  return {
    list: (filter = {}) => request('instances.list', { query: { ...filter } }),
    create({ name, service, plan, team, description, tags, parameters }) {
      const body = { name, service_name: service, plan, owner: team, description, tags, parameters };
      return request('instances.create', { body });
    },
    info: (instance) => request('instances.info', { params: { instance } }),
    async update(instance, { team, ...fields }) {
      const { servicename: service } = await request('instances.info', { params: { instance } });
      const body = { ...fields, ...(team !== undefined && { teamowner: team }) };
      await request('instances.update', { params: { service, instance }, body });
    },
    status: async (instance) => (await request('instances.status', { params: { instance } })).trim(),
    async remove(instance, { unbindAll = false, force, ...progress } = {}) {
      const query = { unbindall: unbindAll, force };
      const listed = await request('instances.list');
      const service = listed.find(({ instances }) => instances.includes(instance))?.service;
      // One whose removal is under way is in no list.
      if (service === undefined) return request('instances.remove', { params: { instance }, query });
      return during('instances.remove_of_service', { params: { service, instance }, query }, progress);
    },
    bind: (instance, app, { noRestart, as } = {}) =>
      request('instances.bind', {
        params: { instance, app },
        query: { noRestart, ...(as !== undefined && { as: [...as] }) },
      }),
    unbind: (instance, app, { noRestart, force, ...progress } = {}) =>
      during('instances.unbind', { params: { instance, app }, query: { noRestart, force } }, progress),
    grant: (instance, team) => request('instances.grant', { params: { instance, team } }),
    revoke: (instance, team) => request('instances.revoke', { params: { instance, team } }),
  };
}
