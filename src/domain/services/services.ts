/** Use cases of the catalog of services (specification 4.2). */
import { type Action, demand, may } from '../access.ts';
import type { Act } from '../act.ts';
import { demandOwner } from '../apps/app-fields.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { demandPlace, MOST } from '../bounds.ts';
import type { Store, StoreWriter } from '../store.ts';
import { demandTeam } from '../teams/demand-team.ts';
import { demandService } from './demand-service.ts';
import type { ServiceManifest } from './manifest.ts';
import { answerOf, type Provider } from './provider.ts';
import type { InstanceSummary, Service, ServiceSummary } from './service.ts';
import type { ServiceChange } from './service-store.ts';
import { EndpointFailure, type EndpointPlan } from './service-endpoint.ts';

export interface OwnedService {
  readonly service: ServiceSummary;
  /** Names of all its instances, whoever has access to them; sorted. */
  readonly instances: readonly string[];
}

export interface Services {
  /** Of the caller's teams; an admin sees all. Sorted by name. */
  listOwned(caller: Caller): Promise<OwnedService[]>;
  /** Errors: access.denied for who is in no team; service.name_taken, team.not_found. */
  create(caller: Caller, manifest: ServiceManifest): Promise<Service>;
  /** Whether the caller may update it, before its manifest is looked at. Errors: service.not_found, access.denied. */
  demandOwned(caller: Caller, name: string): Promise<void>;
  /** Replaces what a manifest says; team, kind and restriction only when it names them. Errors: service.not_found, access.denied. */
  update(caller: Caller, manifest: ServiceManifest): Promise<void>;
  /** Errors: service.not_found, access.denied, service.has_instances. */
  remove(caller: Caller, name: string): Promise<void>;
  /** For those who may use it. Errors: service.not_found, access.denied. */
  doc(caller: Caller, name: string): Promise<string>;
  setDoc(caller: Caller, name: string, doc: string): Promise<void>;
  /** Gives a team access to a restricted service. Errors: team.not_found, team.access_exists. */
  grant(caller: Caller, name: string, team: string): Promise<void>;
  /** Errors: team.not_found, team.access_missing. */
  revoke(caller: Caller, name: string, team: string): Promise<void>;
  /** Asked of the provider. Errors: service.not_found, access.denied, provider.failed. */
  plans(caller: Caller, name: string): Promise<EndpointPlan[]>;
}

interface ServicesDeps {
  readonly store: Store;
  readonly provider: Provider;
  readonly act: Act;
  readonly now: () => Date;
}

const MAX_DOC = 1024 * 1024;

export function createServices({ store, provider, act, now }: ServicesDeps): Services {
  async function edit(
    caller: Caller,
    action: Action,
    on: { readonly name: string; readonly detail?: string },
    make: (service: Service, tx: StoreWriter) => Promise<ServiceChange>,
  ): Promise<void> {
    const { name, detail = '' } = on;
    const service = await demandService(store, name);
    await act(caller, action, { service }, { target: `service:${name}`, detail }, () =>
      store.transact(async (tx) => tx.updateService(name, await make(await demandService(tx, name), tx))),
    );
  }

  return {
    async listOwned(caller) {
      demand(caller, 'service.list');
      const [services, instances] = await Promise.all([store.services(), store.instances()]);
      const owned = services.filter((service) => may(caller, 'service.update', { service }));
      return owned.map((service) => ({
        service,
        instances: instances
          .filter((instance) => instance.service === service.name && instance.state !== 'removing')
          .map(({ name }) => name),
      }));
    },

    async create(caller, manifest) {
      demand(caller, 'service.create');
      const { id, url, username, password } = manifest;
      const ownerTeams = await owners(store, caller, manifest.team);
      const createdAt = now().toISOString();
      const service: Service = {
        name: id,
        kind: manifest.kind ?? 'http',
        url,
        username,
        password,
        ownerTeams,
        teams: [],
        isRestricted: manifest.isRestricted ?? false,
        createdAt,
      };
      await act(caller, 'service.create', {}, { target: `service:${id}`, detail: ownerTeams.join(' ') }, () =>
        store.transact(async (tx) => {
          const all = await tx.services();
          for (const team of ownerTeams) {
            demandPlace(all.filter((one) => one.ownerTeams.includes(team)).length, MOST.servicesOfTeam, {
              plural: 'services of a team',
              hint: `Remove one that the team ${team} does not need: tancho service list`,
            });
          }
          await tx.insertService(service);
        }),
      );
      return service;
    },

    async demandOwned(caller, name) {
      demand(caller, 'service.create');
      demand(caller, 'service.update', { service: await demandService(store, name) });
    },

    async update(caller, { id, kind, url, username, password, isRestricted, team }) {
      // Specification 5: who is in no team is refused for that, whatever the manifest names.
      demand(caller, 'service.create');
      await edit(caller, 'service.update', { name: id }, async (_service, tx) => ({
        url,
        username,
        ...(password !== '' && { password }),
        ...(kind !== null && { kind }),
        ...(isRestricted !== null && { isRestricted }),
        ...(team !== '' && { ownerTeams: await owners(tx, caller, team) }),
      }));
    },

    async remove(caller, name) {
      const service = await demandService(store, name);
      await act(caller, 'service.remove', { service }, { target: `service:${name}` }, () =>
        store.transact(async (tx) => {
          const instances = await tx.instances(name);
          if (instances.length > 0) throw hasInstances(instances);
          await tx.deleteService(name);
        }),
      );
    },

    async doc(caller, name) {
      const service = await demandService(store, name);
      demand(caller, 'service.info', { service });
      return store.serviceDoc(name);
    },

    setDoc: (caller, name, doc) =>
      edit(caller, 'service.update', { name, detail: 'doc' }, async () => {
        if (doc.length <= MAX_DOC && !doc.includes('\0')) return { doc };
        throw new PlatformError(
          'input.invalid',
          `The documentation may have at most ${MAX_DOC} characters, and no NUL.`,
        );
      }),

    grant: (caller, name, team) =>
      edit(caller, 'service.grant', { name, detail: team.slice(0, 100) }, async (service, tx) => {
        await demandTeam(tx, team);
        if (!service.teams.includes(team)) return { teams: [...service.teams, team] };
        throw new PlatformError('team.access_exists', 'This team already has access to this service');
      }),

    revoke: (caller, name, team) =>
      edit(caller, 'service.revoke', { name, detail: team.slice(0, 100) }, async (service, tx) => {
        await demandTeam(tx, team);
        if (service.teams.includes(team)) return { teams: service.teams.filter((other) => other !== team) };
        throw new PlatformError('team.access_missing', 'This team does not have access to this service');
      }),

    async plans(caller, name) {
      const service = await demandService(store, name);
      demand(caller, 'service.info', { service });
      const asking = provider.plans(service, callerName(caller)).catch((thrown: unknown) => {
        throw withoutInstance(thrown);
      });
      return answerOf(asking, `Failed to get the plans of ${name}`, name);
    },
  };
}

/** Where no instance is asked about, there is none that might not be ready: the provider has just refused. */
function withoutInstance(thrown: unknown): unknown {
  if (!(thrown instanceof EndpointFailure) || thrown.code !== 'precondition_failed') return thrown;
  const { message, status, mayHaveHappened } = thrown;
  return new EndpointFailure('refused', message, { mayHaveHappened, ...(status !== null && { status }) });
}

/** The team that the manifest names, one of the caller's own; without one all of the caller's teams. */
async function owners(store: Pick<Store, 'team'>, caller: Caller, team: string): Promise<string[]> {
  if (team !== '') return [(await demandOwner(store, caller, team)).name];
  if (caller.kind === 'user' && caller.teams.length > 0) return [...caller.teams].sort();
  throw new PlatformError('access.denied', 'In order to create a service, you should be member of at least one team', {
    hint: 'Name the team in the manifest, or join one.',
  });
}

function hasInstances(instances: readonly InstanceSummary[]): PlatformError {
  const names = instances.map(({ name }) => name).slice(0, 100);
  // Nobody sees these in a list any more.
  const isGoing = instances.every(({ state }) => state === 'removing');
  return new PlatformError('service.has_instances', 'This service cannot be removed because it has instances.', {
    hint: isGoing
      ? `Still being removed at the provider: ${names.join(', ')}. Try again in some minutes, or remove them with --force.`
      : 'Please remove these instances before removing the service.',
    details: { instances: names },
  });
}
