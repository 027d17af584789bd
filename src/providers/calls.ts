/** Method and path -> the call of the contract that is meant, and its fields checked. */
import type { BindRequest, CreateRequest, Operation, ProviderCall, UnitRequest } from './contract.ts';
import { ProviderError } from './contract.ts';

export type Fields = ReadonlyMap<string, readonly string[]>;

export interface CallTarget {
  readonly operation: Operation;
  /** '' where the path names none. */
  readonly instance: string;
}

const LONGEST_NAME = 255;
/** An instance `plans` would have the same path as the list of plans. */
const TAKEN_NAMES = new Set(['plans', '.', '..']);
const RESOURCE = /^\/resources\/([^/]+)(?:\/(status|bind|bind-app))?$/;

const BELOW: Readonly<Record<string, Operation>> = {
  'GET ': 'info',
  'DELETE ': 'remove',
  'GET status': 'status',
  'POST bind-app': 'bind',
  'DELETE bind-app': 'unbind',
  'POST bind': 'bindUnit',
  'DELETE bind': 'unbindUnit',
};

/** Null: the contract has no such path. `allowed`: it has the path, for other methods. */
export function targetOf(method: string, path: string): CallTarget | { readonly allowed: readonly string[] } | null {
  if (path === '/resources') return method === 'POST' ? { operation: 'create', instance: '' } : { allowed: ['POST'] };
  if (path === '/resources/plans')
    return method === 'GET' ? { operation: 'plans', instance: '' } : { allowed: ['GET'] };
  const match = RESOURCE.exec(path);
  if (match === null) return null;
  const below = match[2] ?? '';
  const operation = BELOW[`${method} ${below}`];
  if (operation !== undefined) return { operation, instance: instanceName(decoded(match[1] ?? '')) };
  const allowed = Object.keys(BELOW).flatMap((key) => (key.split(' ')[1] === below ? [key.split(' ')[0] ?? ''] : []));
  return { allowed };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ProviderError('invalid', 'The path is not encoded as it has to be.');
  }
}

function instanceName(name: string): string {
  const fits = name.length <= LONGEST_NAME && name.trim() === name && !/[\u0000-\u001f\u007f/]/.test(name);
  if (name !== '' && fits && !TAKEN_NAMES.has(name)) return name;
  throw new ProviderError(
    'invalid',
    `The name of an instance has 1 to ${LONGEST_NAME} characters, no slash, no control character, and is not "plans".`,
  );
}

export function first(fields: Fields, name: string): string {
  return fields.get(name)?.[0] ?? '';
}

function needed(fields: Fields, name: string): string {
  const value = first(fields, name);
  if (value === '') throw new ProviderError('invalid', `The field ${name} is missing.`);
  if (value.length > LONGEST_NAME || /[\u0000-\u001f\u007f]/.test(value)) {
    throw new ProviderError('invalid', `The field ${name} is too long or has control characters.`);
  }
  return value;
}

export function createRequest(call: ProviderCall): CreateRequest {
  const { fields } = call;
  const instance = instanceName(first(fields, 'name'));
  return { ...call, instance, team: first(fields, 'team'), plan: first(fields, 'plan') };
}

export function bindRequest(call: ProviderCall, instance: string): BindRequest {
  return { ...call, instance, app: needed(call.fields, 'app-host') };
}

export function unitRequest(call: ProviderCall, instance: string): UnitRequest {
  return { ...bindRequest(call, instance), unit: needed(call.fields, 'unit-host') };
}
