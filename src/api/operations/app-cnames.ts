/** Extra host names of an app; beyond the specification, for the clients that have these commands. */
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import type { RawBody } from '../body.ts';
import { empty, type Operation } from '../operation.ts';
import { appParams, repeatedText } from './fields.ts';
import { readValues } from './options-input.ts';

const path = '/apps/:app/cname';
const query = Type.Object({ cname: repeatedText });
const rawBody = {
  mediaType: 'application/json',
  schema: Type.Object({ cname: Type.Unsafe<string | string[]>({ type: ['string', 'array'] }) }),
};
const errors = ['app.not_found', 'access.denied', 'app.busy', 'cname.invalid', 'input.invalid_json'] as const;

export const appCnameOperations: readonly Operation[] = [
  empty({
    id: 'cnames.add',
    section: null,
    summary: 'Add host names that the app answers at.',
    method: 'POST',
    path,
    access: 'user',
    params: appParams,
    query,
    rawBody,
    errors: [...errors, 'cname.taken', 'cname.unproven'],
    handle: ({ useCases, caller }, { params, query, body }) =>
      useCases.cnames.add(caller, params.app, readNames(body, query)),
  }),
  empty({
    id: 'cnames.remove',
    section: null,
    summary: 'Remove host names; without a name, the only one there is.',
    method: 'DELETE',
    path,
    access: 'user',
    params: appParams,
    query,
    rawBody,
    errors: [...errors, 'cname.not_found'],
    handle: ({ useCases, caller }, { params, query, body }) =>
      useCases.cnames.remove(caller, params.app, readNames(body, query)),
  }),
];

/** One name or several, in JSON, a form or the query. */
function readNames(body: RawBody, query: Readonly<Record<string, unknown>>): string[] {
  const names = readValues(body, query, 'cname');
  const texts = names.filter((name) => typeof name === 'string');
  if (texts.length === names.length) return texts;
  throw new PlatformError('input.invalid', 'A cname must be text.', { hint: 'Send {"cname": ["www.example.com"]}.' });
}
