/** What the schemas of operations demand of requests. As in serialize.ts, each becomes code when it is first needed. */
import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv';
import { PlatformError } from '../../domain/errors.ts';
import { once } from '../../lib/once.ts';
import type { Input, Operation } from '../operation.ts';

const ajv = once(
  () => new Ajv({ coerceTypes: false, removeAdditional: false, useDefaults: false, allowUnionTypes: true }),
);
const validators = new WeakMap<object, ValidateFunction>();

/** Throws PlatformError `input.invalid`, and `input.invalid_json` for a body that is missing. */
export function demandValid({ params, query, body }: Operation, input: Input<unknown, unknown, unknown>): void {
  if (params !== undefined) demandFit(params, input.params);
  if (body !== undefined && !fits(body, input.body ?? null)) {
    if (input.body !== undefined) throw misfit(body);
    throw new PlatformError('input.invalid_json', 'The request has no body.', { hint: 'Send a JSON object.' });
  }
  if (query !== undefined) demandFit(query, input.query);
}

function demandFit(schema: object, data: unknown): void {
  if (!fits(schema, data)) throw misfit(schema);
}

function fits(schema: object, data: unknown): boolean {
  return validatorOf(schema)(data);
}

function validatorOf(schema: object): ValidateFunction {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv().compile(schema as AnySchema);
    validators.set(schema, validate);
  }
  return validate;
}

/** Of what was looked at last. */
function misfit(schema: object): PlatformError {
  const first: ErrorObject | undefined = validatorOf(schema).errors?.[0];
  const field = first?.instancePath.slice(1) ?? '';
  const problem = (first?.message ?? 'is invalid').replace(/,(?:null|array)$/, '');
  return new PlatformError('input.invalid', `${field === '' ? 'The request body' : field} ${problem}.`, {
    hint: 'GET /openapi.json shows what this operation takes.',
    ...(field !== '' && { details: { field } }),
  });
}
