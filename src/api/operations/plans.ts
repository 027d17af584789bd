/** Plans; beyond the specification, for the clients that have these commands. */
import { PlatformError } from '../../domain/errors.ts';
import type { RawBody } from '../body.ts';
import { readFlag } from '../body.ts';
import { empty, json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText } from './fields.ts';
import { amount, flag, optionsBody, readOptions } from './options-input.ts';

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

export const planOperations: readonly Operation[] = [
  json({
    id: 'plans.list',
    section: null,
    summary: 'List the plans: what each unit of an app may use.',
    method: 'GET',
    path: '/plans',
    access: 'user',
    shape: 'plans',
    errors: [],
    handle: ({ useCases, caller }) => useCases.plans.list(caller),
  }),
  empty({
    id: 'plans.create',
    section: null,
    summary: 'Create a plan.',
    method: 'POST',
    path: '/plans',
    access: 'user',
    rawBody: optionsBody({
      name: optionalText,
      memory: amount,
      swap: amount,
      cpushare: amount,
      cpumilli: amount,
      disk: amount,
      default: flag,
    }),
    errors: ['plan.invalid', 'plan.name_taken', 'unsupported', 'input.invalid_json'],
    handle: ({ useCases, caller }, { body }) => useCases.plans.create(caller, readPlan(body)),
  }),
  json({
    id: 'plans.routers',
    section: null,
    summary: 'List the routers: what brings requests to units.',
    method: 'GET',
    path: '/plans/routers',
    also: [{ method: 'GET', path: '/routers' }],
    access: 'user',
    shape: 'routers',
    errors: [],
    handle: ({ useCases, caller }) => useCases.plans.routers(caller),
  }),
  empty({
    id: 'plans.remove',
    section: null,
    summary: 'Remove a plan that no app has.',
    method: 'DELETE',
    path: '/plans/:plan',
    access: 'user',
    params: Type.Object({ plan: Type.String() }),
    errors: ['plan.not_found', 'plan.in_use'],
    handle: ({ useCases, caller }, { params }) => useCases.plans.remove(caller, params.plan),
  }),
];

/** `router` of other servers is not looked at: there is one. */
function readPlan(body: RawBody) {
  const names = ['name', 'memory', 'swap', 'cpushare', 'cpumilli', 'disk', 'default'] as const;
  const fields = readOptions(body, {}, names);
  if (readAmount('swap', fields.swap) > 0) {
    throw new PlatformError('plan.invalid', 'invalid value for swap: units have no swap of their own here.', {
      hint: 'Leave it out, or send 0.',
    });
  }
  return {
    name: fields.name,
    memoryBytes: readAmount('memory', fields.memory),
    cpuMillis: readAmount('cpumilli', fields.cpumilli, {}),
    cpuShare: readAmount('cpushare', fields.cpushare, {}),
    diskBytes: readAmount('disk', fields.disk),
    isDefault: readFlag('default', fields.default),
  };
}

/** A whole number; of bytes also as 512M or 1Gi. Empty is 0. */
function readAmount(name: string, text: string, units = UNITS): number {
  const [, digits = '', unit = ''] = /^(\d{1,15})([a-z]?)(?:i?b?)$/i.exec(text.trim()) ?? [];
  const factor = unit === '' ? 1 : units[unit.toLowerCase()];
  const amount = text.trim() === '' ? 0 : Number(digits) * (factor ?? NaN);
  if ((digits !== '' || text.trim() === '') && Number.isSafeInteger(amount)) return amount;
  throw new PlatformError('plan.invalid', `invalid value for ${name}`, {
    hint: `Send a whole number${units === UNITS ? ' of bytes, or one with a unit such as 512M' : ''}.`,
  });
}
