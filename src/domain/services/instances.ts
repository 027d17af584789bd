/** Use cases of service instances (specification 4.3); binding them to apps is in bindings.ts. */
import { randomUUID } from 'node:crypto';
import { demand, may } from '../access.ts';
import type { Act } from '../act.ts';
import { checkDescription, demandOwner } from '../apps/app-fields.ts';
import { type Caller, callerName } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { demandPlace, MOST } from '../bounds.ts';
import type { Store, StoreWriter } from '../store.ts';
import { demandTeam } from '../teams/demand-team.ts';
import { secretsOf } from './binding-secrets.ts';
import { demandInstance, demandService } from './demand-service.ts';
import { checkParameters, checkPlan, checkTags } from './instance-fields.ts';
import { createInstanceRemoval, type InstanceRemoval } from './instance-removal.ts';
import { instanceTeams } from './instance-teams.ts';
import { instanceLease, isOver, type Orphans } from './orphans.ts';
import { answerOf, type Provider, providerFailed } from './provider.ts';
import { checkInstanceName, type Instance, type InstanceSummary, type Service } from './service.ts';
import { EndpointFailure, type EndpointFact, type InstanceStatus } from './service-endpoint.ts';

export interface NewInstance {
  readonly name: unknown;
  readonly service: unknown;
  readonly plan?: unknown;
  /** Team; without one all of the caller's that may use the service have access. */
  readonly owner?: unknown;
  readonly description?: unknown;
  readonly tags?: unknown;
  readonly parameters?: unknown;
}

export interface InstanceChange {
  readonly description?: unknown;
  readonly tags?: unknown;
  readonly teamOwner?: unknown;
}

export interface InstanceView {
  readonly instance: InstanceSummary;
  /** Names of the apps that are bound to it; sorted. */
  readonly apps: readonly string[];
  /** What the provider says of it; null when it could not be asked. */
  readonly info: readonly EndpointFact[] | null;
  /** What the provider says of its plan; '' when it could not be asked, and absent in lists. */
  readonly planDescription?: string;
}

export interface ListedInstances {
  readonly service: string;
  /** Sorted by name. */
  readonly instances: readonly InstanceSummary[];
}

/** `service`: name of the service that the instance must be of; '' or absent for any. */
export interface Instances extends InstanceRemoval {
  /**
   * Resolves when the provider has made it. Errors: service.not_found, access.denied, instance.invalid_name, instance.name_taken,
   * team.required, team.not_found, provider.failed; then there is none.
   */
  create(caller: Caller, input: NewInstance): Promise<Instance>;
  change(caller: Caller, name: string, change: InstanceChange, service?: string): Promise<void>;
  /** Sorted by service: those the caller may use, each with the instances that the caller has access to. */
  list(caller: Caller, filter: { readonly app?: string }): Promise<ListedInstances[]>;
  info(caller: Caller, name: string, service?: string): Promise<InstanceView>;
  /** The instances of a service that the caller has access to; its provider is asked for some seconds. Errors: service.not_found, access.denied. */
  ofService(caller: Caller, service: string): Promise<InstanceView[]>;
  /** Errors: provider.failed. */
  status(caller: Caller, name: string, service?: string): Promise<InstanceStatus>;
  /** Gives a team access. Errors: team.not_found, team.access_exists. */
  grant(caller: Caller, name: string, team: string, service?: string): Promise<void>;
  /** Errors: team.not_found, team.access_missing, team.owns_instance. */
  revoke(caller: Caller, name: string, team: string, service?: string): Promise<void>;
}

interface InstancesDeps {
  readonly store: Store;
  readonly provider: Provider;
  readonly orphans: Orphans;
  readonly act: Act;
  readonly now: () => Date;
}

const ASKED_AT_ONCE = 8;
/** For one list; what is not known then is not asked for. */
const ASKED_MS = 15_000;

export function createInstances(deps: InstancesDeps): Instances {
  const { store, provider, orphans, act, now } = deps;

  async function view(
    caller: Caller,
    service: Service,
    instance: InstanceSummary,
    isAsked: boolean,
  ): Promise<InstanceView> {
    const bindings = await store.bindingSummaries({ instance: instance.id });
    const apps = bindings.filter(({ state }) => state === 'bound').map(({ app }) => app);
    const asked = isAsked && instance.state === 'ready' ? await store.instanceById(instance.id) : null;
    const details = asked && (await provider.info(service, asked, callerName(caller)).catch(orNull));
    const info = details && (await redacted(instance, details));
    return { instance, apps: apps.sort(), info };
  }

  async function redacted({ id }: InstanceSummary, facts: readonly EndpointFact[]): Promise<EndpointFact[]> {
    const redact = secretsOf(await store.bindings({ instance: id }));
    return facts.map(({ label, value }) => ({ label, value: redact(value) }));
  }

  async function describePlan(caller: Caller, service: Service, { plan }: Instance): Promise<string> {
    if (plan === '') return '';
    const plans = await provider.plans(service, callerName(caller)).catch(orNull);
    return plans?.find(({ name }) => name === plan)?.description ?? '';
  }

  /** One whose making or removal was cut off gives its name back as soon as the provider has let go of it. */
  async function clearName(name: string): Promise<void> {
    const left = await store.instance(name);
    if (left === null) return;
    const failure = left.state === 'ready' ? null : await orphans.undoInstance(left.id, { isOver: true });
    if (left.state !== 'ready' && failure === null) return;
    throw new PlatformError('instance.name_taken', 'instance name already exists.', {
      hint:
        failure === null
          ? 'Names of instances are unique over all services; choose another.'
          : `An earlier one of this name is not removed yet: ${failure.message}`,
    });
  }

  /** A broker's plans may become more: what was made by the only one there was stays of that one. */
  async function withPlan(service: Service, instance: Instance): Promise<Instance> {
    if (service.kind !== 'osb' || instance.plan !== '') return instance;
    const what = `Failed to create the instance ${instance.name}`;
    const plans = await answerOf(provider.plans(service, instance.user), what, instance.name);
    const [only] = plans;
    return only === undefined || plans.length > 1 ? instance : { ...instance, plan: only.name };
  }

  async function provision(asked: Instance): Promise<void> {
    await clearName(asked.name);
    const service = await demandService(store, asked.service);
    const instance = await withPlan(service, asked);
    await store.transact(async (tx) => {
      const owned = (await tx.instances()).filter(({ teamOwner }) => teamOwner === instance.teamOwner);
      demandPlace(owned.length, MOST.instancesOfTeam, {
        plural: 'instances of a team',
        hint: `Remove one that the team ${instance.teamOwner} does not need: tancho instance list`,
      });
      await tx.insertInstance(instance);
    });
    await orphans.during(instance.id, async () => {
      try {
        await provider.create(service, instance);
        await store.transact((tx) => tx.updateInstance(instance.id, { state: 'ready' }));
      } catch (thrown) {
        if (thrown instanceof EndpointFailure && !thrown.mayHaveHappened) {
          await store.transact((tx) => tx.deleteInstance(instance.id));
        } else {
          const over = !(thrown instanceof EndpointFailure) || isOver(thrown);
          await orphans.undoInstance(instance.id, { isOver: over });
        }
        if (!(thrown instanceof EndpointFailure)) throw thrown;
        throw providerFailed(thrown, `Failed to create the instance ${instance.name}`, instance.name);
      }
    });
  }

  async function edit(
    caller: Caller,
    action: 'instance.update' | 'instance.grant' | 'instance.revoke',
    on: { readonly name: string; readonly service: string; readonly detail: string },
    make: (instance: Instance, tx: StoreWriter) => Promise<Partial<Instance>>,
  ): Promise<void> {
    const { name, service, detail } = on;
    const instance = await demandInstance(store, name, service);
    await act(caller, action, { instance }, { target: `instance:${name}`, detail: detail.slice(0, 200) }, () =>
      store.transact(async (tx) => {
        const current = await demandInstance(tx, name, service);
        await tx.updateInstance(current.id, await make(current, tx));
      }),
    );
  }

  return {
    ...createInstanceRemoval(deps),

    async create(caller, input) {
      const service = await demandService(store, typeof input.service === 'string' ? input.service : '');
      demand(caller, 'instance.create', { service });
      const name = checkInstanceName(input.name);
      const owners = await instanceTeams(store, caller, service, input.owner);
      const instance: Instance = {
        id: randomUUID(),
        name,
        service: service.name,
        ...owners,
        user: callerName(caller),
        plan: checkPlan(input.plan),
        description: checkDescription(input.description),
        tags: checkTags(input.tags),
        parameters: checkParameters(input.parameters),
        state: 'creating',
        createdAt: now().toISOString(),
        attempts: 0,
        problem: '',
      };
      const options = { target: `instance:${name}`, lease: instanceLease(name), detail: service.name };
      await act(caller, 'instance.create', { service }, options, () => provision(instance));
      return { ...instance, state: 'ready' };
    },

    async change(caller, name, change, service = '') {
      const { description, tags, teamOwner } = change;
      const fields = {
        ...(description !== undefined && { description: checkDescription(description) }),
        ...(tags !== undefined && { tags: checkTags(tags) }),
      };
      const given = Object.entries(change).filter(([, value]) => value !== undefined);
      const detail = given.map(([field]) => field).join(' ');
      await edit(caller, 'instance.update', { name, service, detail }, async (instance, tx) => {
        if (teamOwner === undefined) return fields;
        const owner = (await demandOwner(tx, caller, teamOwner)).name;
        return { ...fields, teamOwner: owner, teams: [...new Set([...instance.teams, owner])] };
      });
    },

    async list(caller, { app = '' }) {
      demand(caller, 'instance.list');
      const bound = app === '' ? null : new Set<string>();
      if (bound !== null) {
        for (const { instance, state } of await store.bindingSummaries({ app }))
          if (state === 'bound') bound.add(instance);
      }
      const [services, all] = await Promise.all([store.services(), store.instances()]);
      const shown = all.filter(
        (instance) =>
          instance.state !== 'removing' &&
          may(caller, 'instance.info', { instance }) &&
          (bound === null || bound.has(instance.id)),
      );
      return services
        .map((service) => ({
          service: service.name,
          isVisible: may(caller, 'service.info', { service }),
          instances: shown.filter((instance) => instance.service === service.name),
        }))
        .filter(({ isVisible, instances }) => instances.length > 0 || (isVisible && bound === null))
        .map(({ service, instances }) => ({ service, instances }));
    },

    async info(caller, name, service = '') {
      const instance = await demandInstance(store, name, service);
      demand(caller, 'instance.info', { instance });
      const of = await demandService(store, instance.service);
      const [seen, planDescription] = await Promise.all([
        view(caller, of, instance, true),
        describePlan(caller, of, instance),
      ]);
      return { ...seen, planDescription };
    },

    async ofService(caller, name) {
      const service = await demandService(store, name);
      demand(caller, 'service.info', { service });
      const instances = (await store.instances(name)).filter(
        (instance) => instance.state !== 'removing' && may(caller, 'instance.info', { instance }),
      );
      const views: InstanceView[] = [];
      const until = now().getTime() + ASKED_MS;
      for (let from = 0; from < instances.length; from += ASKED_AT_ONCE) {
        const some = instances.slice(from, from + ASKED_AT_ONCE);
        // Nobody waits for a provider again and again that does not answer, or for long.
        const isAnswered = views.every(({ instance, info }) => info !== null || instance.state !== 'ready');
        const isAsked = isAnswered && now().getTime() < until;
        views.push(...(await Promise.all(some.map((instance) => view(caller, service, instance, isAsked)))));
      }
      return views;
    },

    async status(caller, name, service = '') {
      const instance = await demandInstance(store, name, service);
      demand(caller, 'instance.info', { instance });
      if (instance.state === 'creating') return 'pending';
      const asking = provider.status(await demandService(store, instance.service), instance, callerName(caller));
      return answerOf(asking, 'Could not retrieve status of service instance, error', name);
    },

    grant: (caller, name, team, service = '') =>
      edit(caller, 'instance.grant', { name, service, detail: team }, async (instance, tx) => {
        await demandTeam(tx, team);
        if (!instance.teams.includes(team)) return { teams: [...instance.teams, team] };
        throw new PlatformError('team.access_exists', 'This team already has access to this service instance');
      }),

    revoke: (caller, name, team, service = '') =>
      edit(caller, 'instance.revoke', { name, service, detail: team }, async (instance, tx) => {
        await demandTeam(tx, team);
        if (!instance.teams.includes(team)) {
          throw new PlatformError('team.access_missing', 'This team does not have access to this service instance');
        }
        if (team === instance.teamOwner) {
          throw new PlatformError('team.owns_instance', `The team ${team} owns this instance and keeps its access.`, {
            hint: 'Make another team its owner first.',
          });
        }
        return { teams: instance.teams.filter((other) => other !== team) };
      }),
  };
}

/** A provider that fails is no reason to hide what the platform itself knows. */
function orNull(thrown: unknown): null {
  if (thrown instanceof EndpointFailure) return null;
  throw thrown;
}
