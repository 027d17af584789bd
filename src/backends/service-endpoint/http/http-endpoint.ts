/** The published contract of providers: form bodies, basic auth, `/resources`. Guide for those who write one: docs/providers.md. */
import type {
  Endpoint,
  EndpointBinding,
  EndpointCall,
  EndpointFact,
  EndpointInstance,
  EndpointPlan,
  ServiceEndpoint,
} from '../../../domain/services/service-endpoint.ts';
import { EndpointFailure } from '../../../domain/services/service-endpoint.ts';
import { isRecord } from '../../../lib/is-record.ts';
import { isPage } from '../../../lib/web-page.ts';
import {
  type CallTimeouts,
  demandNoPage,
  headerText,
  invalidAnswer,
  jsonOf,
  type EndpointAnswer,
  type ProviderRequest,
  refusal,
  type Send,
} from '../calls.ts';
import { checkVariables } from '../variables.ts';

type Fields = readonly (readonly [name: string, value: string])[];

interface Ask {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly fields: Fields;
  readonly ids: { readonly instance?: string; readonly binding?: string };
  readonly repeatable: boolean;
  readonly timeoutMs: number;
  readonly secrets?: readonly string[];
}

/** What a provider answers that has no such operation. */
const NOT_OFFERED = new Set([404, 405, 501]);
/** What a provider answers to an older way of unbinding that it does not know, or where nothing is bound. */
const NOTHING_TO_UNBIND = new Set([400, 404, 405, 410, 422, 501]);

export function createHttpEndpoint(send: Send, deadlines: CallTimeouts): Omit<ServiceEndpoint, 'proxy'> {
  async function ask(endpoint: Endpoint, call: EndpointCall, what: Ask): Promise<Asked> {
    const request = requestOf(call, what);
    const answer = await send(endpoint, request, call);
    if (request.changes && isSuccess(answer)) demandNoPage(endpoint, request, answer);
    return { request, answer };
  }

  const read = (path: string, ids: Ask['ids']): Ask => {
    return { method: 'GET', path, fields: [], ids, repeatable: true, timeoutMs: deadlines.short };
  };

  async function unbindAt(
    operation: 'bind-app' | 'bind',
    endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    call: EndpointCall,
  ): Promise<Asked> {
    return ask(endpoint, call, {
      method: 'DELETE',
      path: `${resource(instance)}/${operation}`,
      fields: bindFields(binding, call, operation),
      ids: { instance: instance.id, binding: binding.id },
      repeatable: true,
      timeoutMs: deadlines.long,
    });
  }

  async function unit(
    method: 'POST' | 'DELETE',
    endpoint: Endpoint,
    instance: EndpointInstance,
    binding: EndpointBinding,
    unitHost: string,
    call: EndpointCall,
  ): Promise<void> {
    const { request, answer } = await ask(endpoint, call, {
      method,
      path: `${resource(instance)}/bind`,
      fields: [
        ['app-host', binding.appHost],
        ['unit-host', unitHost],
        ['app-name', binding.app],
      ],
      ids: { instance: instance.id, binding: binding.id },
      repeatable: true,
      timeoutMs: deadlines.short,
    });
    if (!isSuccess(answer) && !NOT_OFFERED.has(answer.status)) throw refusal(endpoint, request, answer);
  }

  return {
    async plans(endpoint, call) {
      const { request, answer } = await ask(endpoint, call, read('/resources/plans', {}));
      if (NOT_OFFERED.has(answer.status) || answer.status === 204) return [];
      if (!isSuccess(answer)) throw refusal(endpoint, request, answer);
      return plansOf(jsonOf(endpoint, request, answer), () =>
        invalidAnswer(endpoint, request, answer.status, 'something else than a list of plans'),
      );
    },

    async create(endpoint, instance, call) {
      const { request, answer } = await ask(endpoint, call, {
        method: 'POST',
        path: '/resources',
        fields: createFields(instance, call),
        ids: { instance: instance.id },
        repeatable: false,
        timeoutMs: deadlines.long,
        secrets: Object.values(instance.parameters),
      });
      if (answer.status === 409) throw existsAlready(endpoint);
      if (answer.status === 404) throw notHere(endpoint, answer.status);
      if (!isSuccess(answer)) throw refusal(endpoint, request, answer);
    },

    async info(endpoint, instance, call) {
      const { request, answer } = await ask(endpoint, call, read(resource(instance), { instance: instance.id }));
      if (NOT_OFFERED.has(answer.status) || answer.status === 204) return [];
      if (!isSuccess(answer)) throw refusal(endpoint, request, answer);
      return factsOf(jsonOf(endpoint, request, answer), () =>
        invalidAnswer(endpoint, request, answer.status, 'something else than a list of labels and values'),
      );
    },

    async status(endpoint, instance, call) {
      const path = `${resource(instance)}/status`;
      const { request, answer } = await ask(endpoint, call, read(path, { instance: instance.id }));
      if (answer.status === 204 || answer.status === 200) return 'up';
      if (answer.status === 202) return 'pending';
      if (answer.status === 500) return 'down';
      if (NOT_OFFERED.has(answer.status)) return 'unknown';
      throw refusal(endpoint, request, answer);
    },

    async bind(endpoint, instance, binding, call) {
      const at = (operation: 'bind-app' | 'bind'): Promise<Asked> =>
        ask(endpoint, call, {
          method: 'POST',
          path: `${resource(instance)}/${operation}`,
          fields: bindFields(binding, call, operation),
          ids: { instance: instance.id, binding: binding.id },
          repeatable: false,
          timeoutMs: deadlines.long,
        });
      let asked = await at('bind-app');
      // A provider of the time before apps were bound as a whole.
      if (asked.answer.status === 404 || asked.answer.status === 405) {
        const [unit] = binding.unitHosts;
        if (unit !== undefined) await call.onNotify?.(unit);
        asked = await at('bind');
      }
      const { request, answer } = asked;
      // The instance is ours and nobody else is at work on the pair: it is what an earlier attempt left, or this one sent twice on its way.
      if (answer.status === 409) throw existsAlready(endpoint, true);
      if (!isSuccess(answer)) throw refusal(endpoint, request, answer);
      if (answer.status === 204) return new Map();
      const invalid = (why: string): EndpointFailure => invalidAnswer(endpoint, request, answer.status, why);
      const body = jsonOf(endpoint, request, answer);
      if (body !== null && !isRecord(body)) throw invalid('something else than a map of variables');
      const variables = checkVariables(Object.entries(body ?? {}));
      if (typeof variables === 'string') throw invalid(variables);
      return variables;
    },

    async unbind(endpoint, instance, binding, call) {
      const { request, answer } = await unbindAt('bind-app', endpoint, instance, binding, call);
      if (isSuccess(answer) || answer.status === 410) return;
      if (answer.status !== 404 && answer.status !== 405) throw refusal(endpoint, request, answer);
      // Either it is gone, or it was made at `/bind` by a provider that knows nothing else.
      const older = await unbindAt('bind', endpoint, instance, binding, call);
      // A framework may answer one of the two with a page, which it has no route for; what stands in front answers both so.
      if (isPage(answer.text)) demandNoPage(endpoint, older.request, older.answer);
      if (!isSuccess(older.answer) && !NOTHING_TO_UNBIND.has(older.answer.status))
        throw refusal(endpoint, older.request, older.answer);
    },

    async bindUnit(endpoint, instance, binding, unitHost, call) {
      await unit('POST', endpoint, instance, binding, unitHost, call);
    },

    async unbindUnit(endpoint, instance, binding, unitHost, call) {
      await unit('DELETE', endpoint, instance, binding, unitHost, call);
    },

    async remove(endpoint, instance, call) {
      const { request, answer } = await ask(endpoint, call, {
        method: 'DELETE',
        path: resource(instance),
        fields: byFields(call),
        ids: { instance: instance.id },
        repeatable: true,
        timeoutMs: deadlines.long,
      });
      if (isSuccess(answer)) return;
      if (answer.status !== 404 && answer.status !== 410) throw refusal(endpoint, request, answer);
      demandNoPage(endpoint, request, answer);
    },
  };
}

interface Asked {
  readonly request: ProviderRequest;
  readonly answer: EndpointAnswer;
}

/** Parameters of DELETE go both ways: some providers read the body of one, some its query only. */
function requestOf(call: EndpointCall, what: Ask): ProviderRequest {
  const { method, path, ids, repeatable, timeoutMs, secrets } = what;
  const form = formOf(what.fields);
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-tsuru-user': headerText(call.user),
    'x-tsuru-eventid': headerText(call.requestId),
  };
  if (ids.instance !== undefined) headers['x-tancho-instance-id'] = headerText(ids.instance);
  if (ids.binding !== undefined) headers['x-tancho-binding-id'] = headerText(ids.binding);
  return {
    method,
    path: method === 'POST' || form === '' ? path : `${path}?${form}`,
    headers,
    body: method === 'GET' ? null : form,
    changes: method !== 'GET',
    repeatable,
    timeoutMs,
    ...(secrets === undefined ? {} : { secrets }),
  };
}

function formOf(fields: Fields): string {
  const form = new URLSearchParams();
  for (const [name, value] of fields) form.append(name, value);
  return form.toString();
}

function resource(instance: EndpointInstance): string {
  return `/resources/${encodeURIComponent(instance.name)}`;
}

function byFields(call: EndpointCall): Fields {
  return [
    ['user', call.user],
    ['eventid', call.requestId],
  ];
}

function createFields(instance: EndpointInstance, call: EndpointCall): Fields {
  return [
    ['name', instance.name],
    ['user', instance.user],
    ['team', instance.team],
    ...(instance.plan === '' ? [] : [['plan', instance.plan] as const]),
    ['description', instance.description],
    ...instance.tags.map((tag) => ['tags', tag] as const),
    ['eventid', call.requestId],
    ...Object.entries(instance.parameters).map(([name, value]) => [`parameters.${name}`, value] as const),
  ];
}

function bindFields(binding: EndpointBinding, call: EndpointCall, operation: 'bind-app' | 'bind'): Fields {
  const first = operation === 'bind' ? binding.unitHosts.slice(0, 1) : [];
  return [
    ['app-host', binding.appHost],
    ...first.map((host) => ['unit-host', host] as const),
    ['app-name', binding.app],
    ['app-hosts', binding.appHost],
    ...binding.unitHosts.map((host) => ['app-internal-hosts', host] as const),
    ...byFields(call),
  ];
}

function isSuccess(answer: EndpointAnswer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

/** An instance of that name may be somebody else's, and is not to be undone. */
function existsAlready(endpoint: Endpoint, isOurs = false): EndpointFailure {
  const message = `The provider of the service "${endpoint.service}" says that it has this already.`;
  return new EndpointFailure('exists', message, { mayHaveHappened: isOurs, status: 409 });
}

function notHere(endpoint: Endpoint, status: number): EndpointFailure {
  const message = `There is no provider of the service "${endpoint.service}" at its address: it knows no /resources.`;
  return new EndpointFailure('refused', message, { mayHaveHappened: false, status });
}

function plansOf(body: unknown, invalid: () => EndpointFailure): EndpointPlan[] {
  return listOf(body, invalid).map((entry) => {
    const { name, description = '' } = entry;
    if (typeof name !== 'string' || name === '' || typeof description !== 'string') throw invalid();
    return { name, description };
  });
}

function factsOf(body: unknown, invalid: () => EndpointFailure): EndpointFact[] {
  return listOf(body, invalid).map((entry) => {
    const { label, value } = entry;
    if (typeof label !== 'string' || !['string', 'number', 'boolean'].includes(typeof value)) throw invalid();
    return { label, value: String(value) };
  });
}

function listOf(body: unknown, invalid: () => EndpointFailure): Record<string, unknown>[] {
  if (body === null) return [];
  if (!Array.isArray(body) || !body.every(isRecord)) throw invalid();
  return body;
}
