/** The number of an app's units; beyond the specification, for the clients that have these commands. */
import { Type } from '../schema.ts';
import type { UnitChange } from '../../domain/apps/scale.ts';
import type { RawBody } from '../body.ts';
import { type Operation, progress } from '../operation.ts';
import { appParams, queryText } from './fields.ts';
import { readOptions } from './options-input.ts';

const path = '/apps/:app/units';
const query = Type.Object({ units: queryText, process: queryText });
const rawBody = { mediaType: 'text/plain', schema: Type.String() };
const errors = [
  'app.not_found',
  'access.denied',
  'app.busy',
  'app.not_deployed',
  'process.required',
  'process.not_found',
  'quota.exceeded',
  'unit.invalid_count',
  'unit.failed',
  'input.invalid_json',
] as const;

export const appUnitOperations: readonly Operation[] = [
  progress({
    id: 'units.add',
    section: null,
    summary: 'Add units of a process; those that are there are not touched.',
    method: 'PUT',
    path,
    access: 'user',
    params: appParams,
    query,
    rawBody,
    errors,
    handle: ({ useCases, caller }, { params, query, body }, say) =>
      useCases.scale.add(caller, params.app, readUnits(body, query), say),
  }),
  progress({
    id: 'units.remove',
    section: null,
    summary: 'Remove units of a process; those that stay are not touched.',
    method: 'DELETE',
    path,
    access: 'user',
    params: appParams,
    query,
    rawBody,
    errors: [...errors, 'unit.too_few'],
    handle: ({ useCases, caller }, { params, query, body }, say) =>
      useCases.scale.remove(caller, params.app, readUnits(body, query), say),
  }),
  progress({
    id: 'units.set',
    section: null,
    summary: 'Set the number of units of a process, 0 included; before the first deploy it takes effect with that.',
    method: 'PUT',
    path: '/apps/:app/processes/:process/units',
    access: 'user',
    params: Type.Object({ app: Type.String(), process: Type.String() }),
    query: Type.Object({ units: queryText }),
    rawBody,
    errors: [...errors, 'unit.too_few', 'input.invalid'],
    handle: ({ useCases, caller }, { params, query, body }, say) => {
      const { units } = readUnits(body, query);
      return useCases.scale.set(caller, params.app, { units, process: params.process }, say);
    },
  }),
];

/** A bare number, as the older clients send it, or `units` and `process`. */
function readUnits(body: RawBody, query: Readonly<Record<string, unknown>>): UnitChange {
  const { units, process } = readOptions(body, query, ['units', 'process']);
  const bare = body.text.trim();
  return { units: units === '' && /^[^={[]+$/.test(bare) ? bare : units, process };
}
