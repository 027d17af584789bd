/** Reads how clients of different ages describe a pool: a form, or JSON with fields in any case. */
import { PlatformError } from '../../domain/errors.ts';
import { type RawBody, readFlag, readLowerCased } from '../body.ts';
import { readValues } from './options-input.ts';

export interface PoolInput {
  readonly name: string;
  /** Absent: as before. */
  readonly isPublic?: boolean;
}

/** `named`: the name in the path. Throws `input.invalid`; `pool.in_use` for whoever wants another default pool. */
export function readPool(body: RawBody, named?: string): PoolInput {
  const fields = readLowerCased(body);
  const name = named ?? fields.get('name') ?? fields.get('pool') ?? '';
  if (typeof name !== 'string') {
    throw new PlatformError('input.invalid', 'The name of a pool must be text.', { hint: 'Send name=<pool>.' });
  }
  if (name !== 'default' && readFlag('default', fields.get('default'))) {
    throw new PlatformError('pool.in_use', 'Default pool already exists.', {
      hint: 'It is always "default"; make this one public instead.',
    });
  }
  const open = fields.get('public');
  return { name, ...(open !== undefined && open !== null && open !== '' && { isPublic: readFlag('public', open) }) };
}

/** `team`, repeated, or the list `teams`. Throws `input.invalid` when there is none. */
export function readTeams(body: RawBody, query: Readonly<Record<string, unknown>>): string[] {
  const given = [...readValues(body, query, 'team'), ...readValues(body, {}, 'teams')];
  const names = given.filter((value) => typeof value === 'string');
  if (names.length > 0 && names.length === given.length) return names;
  throw new PlatformError('input.invalid', 'You must provide the team.', {
    hint: 'Send team=<team>, repeated for more.',
  });
}
