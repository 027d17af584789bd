/** Drains: where the lines of an app, or of all apps, are sent on to. Beyond the specification. */
import { Type } from '../schema.ts';
import { empty, json, type Operation } from '../operation.ts';
import { optionalText, queryText } from './fields.ts';

const params = Type.Object({ drain: Type.String() });
/** By name; all of them. */
const headers = Type.Optional(Type.Record(Type.String(), Type.String()));
const one = ['drain.not_found', 'access.denied'] as const;

export const drainOperations: readonly Operation[] = [
  json({
    id: 'drains.list',
    section: null,
    summary: 'List the drains you may see, with how far each has sent.',
    method: 'GET',
    path: '/drains',
    access: 'user',
    query: Type.Object({ app: queryText }),
    shape: 'drains',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { query: { app = '' } }) => useCases.drains.list(caller, app),
  }),
  json({
    id: 'drains.add',
    section: null,
    summary: 'Send what an app logs from now on to a receiver elsewhere; without an app, what all of them log.',
    method: 'POST',
    path: '/drains',
    access: 'user',
    body: Type.Object({ app: optionalText, url: optionalText, format: optionalText, headers }),
    shape: 'drain',
    errors: ['app.not_found', 'access.denied', 'drain.invalid', 'quota.exceeded', 'app.busy', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body }) =>
      useCases.drains.add(caller, body.app ?? '', {
        url: body.url ?? '',
        format: body.format ?? '',
        headers: body.headers ?? {},
      }),
  }),
  json({
    id: 'drains.info',
    section: null,
    summary: 'Show a drain, with how far it has sent and what went wrong last.',
    method: 'GET',
    path: '/drains/:drain',
    access: 'user',
    params,
    shape: 'drain',
    errors: one,
    handle: ({ useCases, caller }, { params: { drain } }) => useCases.drains.info(caller, drain),
  }),
  json({
    id: 'drains.test',
    section: null,
    summary: 'Send one line to the receiver of a drain, and say what it answers.',
    method: 'POST',
    path: '/drains/:drain/test',
    access: 'user',
    params,
    shape: 'drainTest',
    errors: one,
    handle: ({ useCases, caller }, { params: { drain } }) => useCases.drains.test(caller, drain),
  }),
  json({
    id: 'drains.update',
    section: null,
    summary: 'Change where a drain sends to; what it has not sent yet goes there.',
    method: 'PUT',
    path: '/drains/:drain',
    access: 'user',
    params,
    body: Type.Object({ url: optionalText, format: optionalText, headers }),
    shape: 'drain',
    errors: [...one, 'drain.invalid', 'app.busy', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params: { drain }, body: { url, format, headers } }) =>
      useCases.drains.update(caller, drain, {
        ...(typeof url === 'string' && { url }),
        ...(typeof format === 'string' && { format }),
        ...(headers !== undefined && { headers }),
      }),
  }),
  empty({
    id: 'drains.remove',
    section: null,
    summary: 'Remove a drain; what it has not sent is not sent any more.',
    method: 'DELETE',
    path: '/drains/:drain',
    access: 'user',
    params,
    errors: [...one, 'app.busy'],
    handle: ({ useCases, caller }, { params: { drain } }) => useCases.drains.remove(caller, drain),
  }),
];
