/** Reads how clients of different ages describe a pool: a form, or JSON with fields in any case. */
import { PlatformError } from '../../domain/errors.ts';
import type { PoolChange } from '../../domain/pools/pools.ts';
import { isRecord } from '../../lib/is-record.ts';
import { type RawBody, readFlag, readLowerCased, scalarText, textOf } from '../body.ts';
import { readValues } from './options-input.ts';

interface PoolInput extends PoolChange {
  readonly name: string;
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
  const isPublic = open === undefined || open === null || open === '' ? undefined : readFlag('public', open);
  const engine = textOf('engine', fields.get('engine') ?? fields.get('provisioner'));
  const options = readPlace(body, fields.get('options'));
  return {
    name,
    ...(isPublic !== undefined && { isPublic }),
    ...(engine !== '' && { engine }),
    ...(options !== undefined && { options }),
  };
}

/** An object of texts, or `option=<name>=<value>`, repeated; undefined when neither is there. */
function readPlace(body: RawBody, given: unknown): Record<string, string> | undefined {
  const pairs = readValues(body, {}, 'option').map((pair) => {
    const text = textOf('option', pair);
    const at = text.indexOf('=');
    if (at > 0) return [text.slice(0, at), text.slice(at + 1)] as const;
    throw new PlatformError('input.invalid', `The option ${JSON.stringify(text.slice(0, 63))} has no value.`, {
      hint: 'Send option=<name>=<value>, repeated for more.',
    });
  });
  if (given === undefined || given === null || given === '')
    return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
  if (!isRecord(given)) {
    throw new PlatformError('input.invalid', '"options" must be an object of texts.', {
      hint: 'Send {"options": {"<name>": "<value>"}}, or option=<name>=<value> in a form.',
    });
  }
  return Object.fromEntries([
    ...Object.entries(given).map(([name, value]) => [name, scalarText(name, value)] as const),
    ...pairs,
  ]);
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
