/** The audit trail; beyond the specification, for clients from 1.1 on. */
import type { EventQuery } from '../../domain/audit/event-log.ts';
import { PlatformError } from '../../domain/errors.ts';
import { readFlag } from '../body.ts';
import { json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { queryText } from './fields.ts';

const query = Type.Object({
  'target.type': queryText,
  'target.value': queryText,
  kindname: queryText,
  ownername: queryText,
  erroronly: queryText,
  since: queryText,
  until: queryText,
  limit: queryText,
  skip: queryText,
});

export const eventOperations: readonly Operation[] = [
  json({
    id: 'events.list',
    section: null,
    summary: 'List who did what, and who was refused what, newest first, at most 100 at once.',
    method: 'GET',
    path: '/events',
    access: 'user',
    query,
    shape: 'events',
    errors: ['access.denied', 'input.invalid'],
    handle: ({ useCases, caller }, input) => useCases.events.list(caller, queryOf(input.query)),
  }),
  json({
    id: 'events.log',
    section: null,
    summary:
      'Show rows of the audit log as the leaves of a hash tree, with what the log has signed, at most 1,000 at once; for admins.',
    method: 'GET',
    path: '/events/log',
    access: 'user',
    query: Type.Object({ from: queryText, limit: queryText }),
    shape: 'auditLog',
    errors: ['access.denied', 'event.not_found', 'input.invalid'],
    handle: ({ useCases, caller }, { query: { from, limit } }) =>
      useCases.events.log(caller, wholeNumber('from', from || '0'), wholeNumber('limit', limit || '1000')),
  }),
  json({
    id: 'events.info',
    section: null,
    summary: 'Show one event.',
    method: 'GET',
    path: '/events/:event',
    access: 'user',
    params: Type.Object({ event: Type.String() }),
    shape: 'eventInfo',
    errors: ['access.denied', 'event.not_found'],
    handle: ({ useCases, caller }, { params }) => useCases.events.info(caller, params.event),
  }),
];

type Query = Readonly<Partial<Record<keyof (typeof query)['properties'], string>>>;

/** Empty ones mean all. */
function queryOf(given: Query): EventQuery {
  const [type, value] = [given['target.type'] || 'app', given['target.value']];
  return {
    ...(value && { target: `${type}:${value}` }),
    ...(given.kindname && { action: given.kindname }),
    ...(given.ownername && { actor: given.ownername }),
    ...(readFlag('erroronly', given.erroronly) && { failedOnly: true }),
    ...(given.since && { since: given.since }),
    ...(given.until && { until: given.until }),
    ...(given.limit && { limit: wholeNumber('limit', given.limit) }),
    ...(given.skip && { skip: wholeNumber('skip', given.skip) }),
  };
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new PlatformError('input.invalid', `Parameter "${name}" must be an integer.`, { hint: 'Use a whole number.' });
}
