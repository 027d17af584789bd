/** A service whose provider is a broker of the Open Service Broker API 2.17. Instances and bindings go by their own ids there. */
import {
  type Endpoint,
  type EndpointBinding,
  type EndpointCall,
  type EndpointFact,
  EndpointFailure,
  type EndpointInstance,
  type ServiceEndpoint,
} from '../../../domain/services/service-endpoint.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { type CallTimeouts, demandNoPage, invalidAnswer, jsonOf, type Send } from '../calls.ts';
import { checkVariables } from '../variables.ts';
import {
  afterwards,
  type BrokerExchange,
  createBroker,
  lastState,
  PLATFORM_NAME,
  refusalOf,
  refused,
} from './broker.ts';
import type { Offering, OsbPlan } from './catalog.ts';
import { flatten } from './credentials.ts';

interface Ordered {
  readonly offering: Offering;
  readonly plan: OsbPlan;
  readonly query: { readonly service_id: string; readonly plan_id: string };
}

export function createOsbEndpoint(send: Send, deadlines: CallTimeouts): Omit<ServiceEndpoint, 'proxy'> {
  const broker = createBroker(send, deadlines);

  async function ordered(endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall): Promise<Ordered> {
    const offering = await broker.offering(endpoint, call);
    const plan = broker.plan(endpoint, offering, instance);
    return { offering, plan, query: { service_id: offering.id, plan_id: plan.id } };
  }

  async function fetchInstance(endpoint: Endpoint, instance: EndpointInstance, call: EndpointCall, order: Ordered) {
    const path = instancePath(instance);
    return broker.ask(endpoint, call, {
      method: 'GET',
      path,
      query: order.query,
      repeatable: true,
      timeoutMs: deadlines.short,
    });
  }

  /** Both kinds of deletion: done, already gone, or gone later. */
  async function destroy(endpoint: Endpoint, call: EndpointCall, path: string, order: Ordered): Promise<void> {
    const { query, plan } = order;
    const asked = await broker.askUntilFree(endpoint, call, {
      method: 'DELETE',
      path,
      query: { ...query, accepts_incomplete: 'true' },
      repeatable: true,
      timeoutMs: deadlines.long,
    });
    const { status } = asked.answer;
    if ([200, 404, 410].includes(status)) return demandNoPage(endpoint, asked.request, asked.answer);
    if (status !== 202) throw refusalOf(endpoint, asked);
    const { maxPollingSeconds } = plan;
    await broker.follow(endpoint, call, { asked, path, query, maxPollingSeconds, deletes: true });
  }

  /** The variables in the answer to a bind, or to a question for the binding. */
  function variablesOf(endpoint: Endpoint, asked: BrokerExchange): Map<string, string> {
    const { request, answer } = asked;
    const invalid = (why: string): EndpointFailure =>
      invalidAnswer(endpoint, { ...request, changes: true }, answer.status, why);
    let body: unknown;
    try {
      body = jsonOf(endpoint, request, answer);
    } catch {
      throw invalid('something that is not JSON');
    }
    if (!isRecord(body)) throw invalid('something else than a binding');
    const { credentials = {}, volume_mounts: mounts, route_service_url: route } = body;
    if ((Array.isArray(mounts) && mounts.length > 0) || typeof route === 'string') {
      throw invalid('with a volume or a route, which the platform cannot give to an app');
    }
    if (!isRecord(credentials)) throw invalid('credentials that are not an object');
    const entries = flatten(endpoint.service, credentials);
    if (entries === null) throw invalid('credentials that are nested too deeply');
    const variables = checkVariables(entries);
    if (typeof variables === 'string') throw invalid(variables);
    return variables;
  }

  return {
    async plans(endpoint, call) {
      const { plans } = await broker.offering(endpoint, call);
      return plans.map(({ name, description }) => ({ name, description }));
    },

    async create(endpoint, instance, call) {
      const order = await ordered(endpoint, instance, call);
      const { offering, plan, query } = order;
      if (offering.requires.length > 0) {
        throw refused(`The service "${offering.name}" needs what no app has here: ${offering.requires.join(', ')}.`);
      }
      const path = instancePath(instance);
      const asked = await broker.askUntilFree(endpoint, call, {
        method: 'PUT',
        path,
        query: { accepts_incomplete: 'true' },
        body: provisionBody(instance, order),
        repeatable: false,
        timeoutMs: deadlines.long,
        secrets: Object.values(instance.parameters),
      });
      const { status } = asked.answer;
      if (status === 409) throw existsAlready(endpoint);
      if (status === 202) {
        const { maxPollingSeconds } = plan;
        await broker.follow(endpoint, call, { asked, path, query, maxPollingSeconds, deletes: false });
        return;
      }
      if (status !== 200 && status !== 201) throw refusalOf(endpoint, asked);
      if (!isRecord(jsonOf(endpoint, asked.request, asked.answer))) {
        throw invalidAnswer(endpoint, asked.request, status, 'something else than an instance');
      }
    },

    async info(endpoint, instance, call) {
      const order = await ordered(endpoint, instance, call);
      if (!order.offering.instancesRetrievable) return [];
      const asked = await fetchInstance(endpoint, instance, call, order);
      // Being changed: there is nothing to say now.
      if (asked.answer.status === 422) return [];
      if (asked.answer.status !== 200) throw refusalOf(endpoint, asked);
      return factsOf(endpoint, asked, order.plan);
    },

    async status(endpoint, instance, call) {
      const order = await ordered(endpoint, instance, call);
      const { answer } = await broker.ask(endpoint, call, {
        method: 'GET',
        path: `${instancePath(instance)}/last_operation`,
        query: order.query,
        repeatable: true,
        timeoutMs: deadlines.short,
      });
      const state = lastState(answer);
      if (state === 'in progress') return 'pending';
      if (state === 'failed') return 'down';
      if (state === 'succeeded') return 'up';
      if (!order.offering.instancesRetrievable) return 'unknown';
      const asked = await fetchInstance(endpoint, instance, call, order);
      if (asked.answer.status === 200) return 'up';
      if (asked.answer.status === 422) return 'pending';
      throw refusalOf(endpoint, asked);
    },

    async bind(endpoint, instance, binding, call) {
      const order = await ordered(endpoint, instance, call);
      const { offering, plan, query } = order;
      if (!plan.bindable) throw refused(`Instances of the service "${offering.name}" cannot be bound to apps.`);
      const path = bindingPath(instance, binding);
      const asked = await broker.askUntilFree(endpoint, call, {
        method: 'PUT',
        path,
        query: { accepts_incomplete: 'true' },
        body: bindBody(instance, binding, order),
        repeatable: false,
        timeoutMs: deadlines.long,
      });
      const { status } = asked.answer;
      if (status === 409) throw existsAlready(endpoint);
      if (status === 200 || status === 201) return variablesOf(endpoint, asked);
      if (status !== 202) throw refusalOf(endpoint, asked);
      const { maxPollingSeconds } = plan;
      await broker.follow(endpoint, call, { asked, path, query, maxPollingSeconds, deletes: false });
      return variablesOf(endpoint, await fetchBinding(endpoint, call, path, query));
    },

    async unbind(endpoint, instance, binding, call) {
      await destroy(endpoint, call, bindingPath(instance, binding), await ordered(endpoint, instance, call));
    },

    // A broker knows apps, not units.
    async bindUnit() {},
    async unbindUnit() {},

    async remove(endpoint, instance, call) {
      await destroy(endpoint, call, instancePath(instance), await ordered(endpoint, instance, call));
    },
  };

  /** Once it is bound, a failure to learn how leaves a binding behind. */
  async function fetchBinding(
    endpoint: Endpoint,
    call: EndpointCall,
    path: string,
    query: Readonly<Record<string, string>>,
  ): Promise<BrokerExchange> {
    try {
      const what = { method: 'GET', path, query, repeatable: true, timeoutMs: deadlines.short } as const;
      const asked = await broker.ask(endpoint, call, what);
      if (asked.answer.status === 200) return asked;
      throw refusalOf(endpoint, asked);
    } catch (error) {
      throw afterwards(error);
    }
  }
}

function instancePath(instance: EndpointInstance): string {
  return `/v2/service_instances/${encodeURIComponent(instance.id)}`;
}

function bindingPath(instance: EndpointInstance, binding: EndpointBinding): string {
  return `${instancePath(instance)}/service_bindings/${encodeURIComponent(binding.id)}`;
}

function contextOf(instance: EndpointInstance): Record<string, string> {
  return { platform: PLATFORM_NAME, team: instance.team, instance_name: instance.name };
}

/** The guids of organization and space are asked for by old brokers; the owner is the nearest thing to both. */
function provisionBody(instance: EndpointInstance, { plan, query }: Ordered): object {
  return {
    ...query,
    context: contextOf(instance),
    organization_guid: instance.team,
    space_guid: instance.team,
    parameters: instance.parameters,
    ...(plan.maintenanceVersion === null ? {} : { maintenance_info: { version: plan.maintenanceVersion } }),
  };
}

function bindBody(instance: EndpointInstance, binding: EndpointBinding, { query }: Ordered): object {
  return {
    ...query,
    context: { ...contextOf(instance), app_name: binding.app },
    app_guid: binding.app,
    bind_resource: { app_guid: binding.app, route: binding.appHost },
  };
}

/** Parameters are left out: they may hold secrets. */
function factsOf(endpoint: Endpoint, asked: BrokerExchange, plan: OsbPlan): EndpointFact[] {
  const body = jsonOf(endpoint, asked.request, asked.answer);
  if (!isRecord(body)) {
    throw invalidAnswer(endpoint, asked.request, asked.answer.status, 'something else than an instance');
  }
  const { dashboard_url: dashboard } = body;
  return [
    { label: 'Plan', value: plan.name },
    ...(typeof dashboard === 'string' ? [{ label: 'Dashboard', value: dashboard }] : []),
  ];
}

function existsAlready(endpoint: Endpoint): EndpointFailure {
  const message = `The broker of the service "${endpoint.service}" has this already, with other attributes.`;
  return new EndpointFailure('exists', message, { mayHaveHappened: false, status: 409 });
}
