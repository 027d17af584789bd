/** Instances of services, and binding them to apps (specification 4.3). */
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Say } from '../../domain/say.ts';
import { readNames } from '../../domain/services/binding-names.ts';
import { type RawBody, readFlag } from '../body.ts';
import { type Context, empty, type Input, json, type Method, type Operation, progress, text } from '../operation.ts';
import { Type } from '../schema.ts';
import { queryText, repeatedText } from './fields.ts';
import { readInstanceChange, readNewInstance } from './instance-input.ts';
import { OPTIONS_BODY, readOptions, readValues } from './options-input.ts';

const section = '4.3';
/** The longer paths, of clients from 1.0 on, name the service too. */
const service = Type.Optional(Type.String());
const params = Type.Object({ instance: Type.String(), service });
const appParams = Type.Object({ instance: Type.String(), app: Type.String(), service });
const teamParams = Type.Object({ instance: Type.String(), team: Type.String(), service });
const bodyOf = (description: string) => ({
  mediaType: 'application/json',
  schema: Type.Unsafe<object>({ type: 'object', description }),
});
const newInstance = bodyOf('name and service_name; where wanted plan, owner (a team), description, tags, parameters.');
const instanceChange = bodyOf('description, tags, teamowner; what is absent or empty stays.');
const bindOptions = Type.Object({ noRestart: queryText, force: queryText });
/** How variables are to be called, `NEW_NAME=NAME_OF_THE_SERVICE`. */
const bindAs = Type.Object({ noRestart: queryText, as: repeatedText });
const denied = ['instance.not_found', 'access.denied'] as const;
const bindErrors: readonly ErrorCode[] = [
  'app.not_found',
  'instance.not_found',
  'access.denied',
  'app.busy',
  'unit.failed',
  'env.invalid',
  'input.invalid_json',
];

const bindingErrors: readonly ErrorCode[] = [
  ...bindErrors,
  'instance.not_ready',
  'binding.exists',
  'binding.conflict',
  'provider.failed',
];
const removeOptions = Type.Object({ unbindall: queryText, force: queryText, ignoreerrors: queryText });
const removeErrors: readonly ErrorCode[] = [
  ...denied,
  'instance.bound',
  'instance.not_ready',
  'provider.failed',
  'app.busy',
  'unit.failed',
];

type Of<P extends TSchema, Q extends TSchema> = Input<Static<P>, Static<Q>, RawBody>;

function bind(
  { useCases, caller }: Context,
  { params: { instance, app, service: name }, query, body }: Of<typeof appParams, typeof bindAs>,
  say: Say,
): Promise<Record<string, string>> {
  const { noRestart } = readOptions(body, query, ['noRestart']);
  const names = readValues(body, query, 'as');
  const options = {
    noRestart: readFlag('noRestart', noRestart),
    ...(name !== undefined && { service: name }),
    ...(names.length > 0 && { names: readNames(names) }),
  };
  return useCases.bindings.bind(caller, instance, app, options, say);
}

async function remove(
  { useCases, caller }: Context,
  { params: { instance, service: name }, query }: Of<typeof params, typeof removeOptions>,
  say: Say,
): Promise<void> {
  const force = readFlag('force', query.force) || readFlag('ignoreerrors', query.ignoreerrors);
  const of = name === undefined ? {} : { service: name };
  if (readFlag('unbindall', query.unbindall)) {
    for (const app of await useCases.instances.boundApps(caller, instance, name)) {
      await useCases.bindings.unbind(caller, instance, app, { force, ...of }, say);
    }
  }
  await useCases.instances.remove(caller, instance, { force, ...of, say });
}

function ways(method: Method, ...paths: readonly string[]): { method: Method; path: string }[] {
  return paths.map((path) => ({ method, path }));
}

const lookOperations: readonly Operation[] = [
  json({
    id: 'instances.list',
    section,
    summary: 'List services with the instances that the caller has access to: all, or those bound to an app.',
    method: 'GET',
    path: '/services/instances',
    access: 'user',
    query: Type.Object({ app: queryText }),
    shape: 'serviceInstances',
    errors: [],
    handle: ({ useCases, caller }, { query: { app = '' } }) => useCases.instances.list(caller, { app }),
  }),
  json({
    id: 'instances.info',
    section,
    summary: 'Show an instance.',
    method: 'GET',
    path: '/services/instances/:instance',
    also: ways('GET', '/services/:service/instances/:instance', '/services/:service/instances/:instance/info'),
    access: 'user',
    isSlow: true,
    params,
    shape: 'instance',
    errors: denied,
    handle: ({ useCases, caller }, { params: { instance, service: name } }) =>
      useCases.instances.info(caller, instance, name),
  }),
  text({
    id: 'instances.status',
    section,
    summary: 'Whether an instance can be used, asked of its provider.',
    method: 'GET',
    path: '/services/instances/:instance/status',
    also: ways('GET', '/services/:service/instances/:instance/status'),
    access: 'user',
    isSlow: true,
    params,
    errors: [...denied, 'provider.failed', 'instance.not_ready'],
    async handle({ useCases, caller }, { params: { instance, service: name } }) {
      const status = await useCases.instances.status(caller, instance, name);
      const words = status === 'unknown' ? 'not implemented for this service' : status;
      return `Service instance "${instance}" is ${words}`;
    },
  }),
];

const bindingOperations: readonly Operation[] = [
  json({
    id: 'instances.bind',
    section,
    summary: 'Bind an instance to an app; answers the variables once the app runs with them.',
    method: 'PUT',
    path: '/services/instances/:instance/:app',
    access: 'user',
    params: appParams,
    query: bindAs,
    rawBody: OPTIONS_BODY,
    shape: 'boundVars',
    errors: bindingErrors,
    handle: (context, input) => bind(context, input, () => {}),
  }),
  progress({
    id: 'instances.bind_of_service',
    section: null,
    summary: 'Bind an instance of a service to an app; says what is done, and in the end the names of the variables.',
    method: 'PUT',
    path: '/services/:service/instances/:instance/:app',
    also: ways('PUT', '/services/:service/instances/:instance/apps/:app'),
    access: 'user',
    params: appParams,
    query: bindAs,
    rawBody: OPTIONS_BODY,
    errors: bindingErrors,
    async handle(context, input, say) {
      const variables = await bind(context, input, say);
      const { instance, app } = input.params;
      say(`Instance "${instance}" is now bound to the app "${app}", which finds these variables in its environment:`);
      for (const name of Object.keys(variables).sort()) say(`- ${name}`);
    },
  }),
  progress({
    id: 'instances.unbind',
    section,
    summary: 'Take the binding of an app to an instance away.',
    method: 'DELETE',
    path: '/services/instances/:instance/:app',
    also: ways(
      'DELETE',
      '/services/:service/instances/:instance/:app',
      '/services/:service/instances/:instance/apps/:app',
    ),
    access: 'user',
    params: appParams,
    query: bindOptions,
    rawBody: OPTIONS_BODY,
    errors: [...bindErrors, 'binding.not_found'],
    async handle({ useCases, caller }, { params: { instance, app, service: name }, query, body }, say) {
      const given = readOptions(body, query, ['noRestart', 'force']);
      const options = {
        noRestart: readFlag('noRestart', given.noRestart),
        force: readFlag('force', given.force),
        ...(name !== undefined && { service: name }),
      };
      await useCases.bindings.unbind(caller, instance, app, options, say);
    },
  }),
];

export const instanceOperations: readonly Operation[] = [
  ...lookOperations,
  empty({
    id: 'instances.create',
    section,
    summary: 'Have the provider of a service make an instance.',
    method: 'POST',
    path: '/services/instances',
    also: ways('POST', '/services/:service/instances'),
    access: 'user',
    params: Type.Object({ service }),
    rawBody: newInstance,
    errors: [
      'service.not_found',
      'access.denied',
      'instance.invalid_name',
      'instance.name_taken',
      'instance.not_ready',
      'team.required',
      'team.not_found',
      'provider.failed',
      'app.busy',
      'quota.exceeded',
      'input.invalid_json',
    ],
    async handle({ useCases, caller }, { params: { service: name = '' }, body }) {
      await useCases.instances.create(caller, readNewInstance(body, name));
    },
  }),
  empty({
    id: 'instances.remove',
    section,
    summary: 'Remove an instance that no app is bound to, or with unbindall unbind it first.',
    method: 'DELETE',
    path: '/services/instances/:instance',
    also: ways('DELETE', '/services/c/instances/:instance'),
    access: 'user',
    params,
    query: removeOptions,
    errors: removeErrors,
    handle: (context, input) => remove(context, input, () => {}),
  }),
  progress({
    id: 'instances.remove_of_service',
    section: null,
    summary:
      'Remove an instance of a service; without unbindall an instance that is bound is answered as a line with its apps.',
    method: 'DELETE',
    path: '/services/:service/instances/:instance',
    access: 'user',
    params,
    query: removeOptions,
    errors: removeErrors,
    handle: (context, input, say) => remove(context, input, say),
    // Clients that say nothing of unbinding read the apps beside this very error, offer to unbind them, and break on any other status.
    asLine: ({ code, details }, { query }: Of<typeof params, typeof removeOptions>) =>
      code === 'instance.bound' && query.unbindall === undefined ? [details['apps']].flat().join(',') : null,
  }),
  empty({
    id: 'instances.update',
    section: null,
    summary: 'Change description, tags or the owning team of an instance.',
    method: 'PUT',
    path: '/services/:service/instances/:instance',
    also: ways('POST', '/services/:service/instances/:instance/update'),
    access: 'user',
    params,
    rawBody: instanceChange,
    errors: [...denied, 'team.not_found', 'unsupported', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params: { instance, service: name }, body }) =>
      useCases.instances.change(caller, instance, readInstanceChange(body), name),
  }),
  ...bindingOperations,
  empty({
    id: 'instances.grant',
    section: null,
    summary: 'Give a team access to an instance.',
    method: 'PUT',
    path: '/services/instances/permission/:instance/:team',
    also: ways('PUT', '/services/:service/instances/permission/:instance/:team'),
    access: 'user',
    params: teamParams,
    errors: [...denied, 'team.not_found', 'team.access_exists'],
    handle: ({ useCases, caller }, { params: { instance, team, service: name } }) =>
      useCases.instances.grant(caller, instance, team, name),
  }),
  empty({
    id: 'instances.revoke',
    section: null,
    summary: "Take a team's access to an instance away.",
    method: 'DELETE',
    path: '/services/instances/permission/:instance/:team',
    also: ways('DELETE', '/services/:service/instances/permission/:instance/:team'),
    access: 'user',
    params: teamParams,
    errors: [...denied, 'team.not_found', 'team.access_missing', 'team.owns_instance'],
    handle: ({ useCases, caller }, { params: { instance, team, service: name } }) =>
      useCases.instances.revoke(caller, instance, team, name),
  }),
];
