/** What unit and node agents of other platforms report; beyond the specification, so that images with such an agent run. */
import { Type } from '../schema.ts';
import { parseJson, type RawBody, readBodyFields } from '../body.ts';
import { empty, json, type Operation } from '../operation.ts';
import { appParams, queryText } from './fields.ts';
import { OPTIONS_BODY, readOptions } from './options-input.ts';

const failures = ['app.not_found', 'access.denied', 'unit.not_found', 'input.invalid_json'] as const;
const reports = Type.Array(Type.Object({ ID: Type.String(), Name: Type.String(), Status: Type.String() }));

export const unitReportOperations: readonly Operation[] = [
  json({
    id: 'units.register',
    section: null,
    summary: 'Tell that a unit runs, and get its environment.',
    method: 'POST',
    path: '/apps/:app/units/register',
    access: 'token',
    params: appParams,
    query: Type.Object({ hostname: queryText, customdata: queryText }),
    rawBody: OPTIONS_BODY,
    shape: 'envVars',
    errors: failures,
    handle: ({ useCases, caller }, { params, query, body }) => {
      const { hostname, customdata } = readOptions(body, query, ['hostname', 'customdata']);
      return useCases.unitReports.register(caller, params.app, hostname, customdata);
    },
  }),
  empty({
    id: 'units.report',
    section: null,
    summary: 'Report the state of a unit.',
    method: 'POST',
    path: '/apps/:app/units/:unit',
    access: 'token',
    params: Type.Object({ app: Type.String(), unit: Type.String() }),
    query: Type.Object({ status: queryText }),
    rawBody: OPTIONS_BODY,
    errors: failures,
    handle: ({ useCases, caller }, { params, query, body }) => {
      const { status } = readOptions(body, query, ['status']);
      return useCases.unitReports.report(caller, params.app, { unit: params.unit, status });
    },
  }),
  json({
    id: 'units.known',
    section: null,
    summary: 'Ask which units are there.',
    method: 'POST',
    path: '/units/status',
    also: [{ method: 'POST', path: '/node/status' }],
    access: 'user',
    rawBody: { mediaType: 'application/json', schema: reports },
    shape: 'knownUnits',
    errors: ['access.denied', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body }) => useCases.unitReports.known(caller, readIds(body)),
  }),
  empty({
    id: 'apps.custom_data',
    section: null,
    summary: 'Leave data with an app, for programs.',
    method: 'POST',
    path: '/apps/:app/customdata',
    access: 'token',
    params: appParams,
    rawBody: { mediaType: 'application/json', schema: Type.Record(Type.String(), Type.Unsafe<unknown>({})) },
    errors: ['app.not_found', 'access.denied', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) => useCases.unitReports.keep(caller, params.app, parseJson(body)),
  }),
];

/** A JSON array of objects with ID, or the fields Units.0.ID, Units.1.ID, ... of a form. */
function readIds(body: RawBody): string[] {
  if (body.text.trim() === '') return [];
  if (/^\s*\[/.test(body.text)) {
    return (parseJson(body) as unknown[]).map((one) => String((one as { ID?: unknown } | null)?.ID ?? ''));
  }
  const fields = [...readBodyFields(body)].filter(([name]) => /^units\.\d+\.id$/i.test(name));
  return fields.map(([, [id]]) => String(id ?? ''));
}
