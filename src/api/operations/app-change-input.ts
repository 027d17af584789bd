/** Reads how clients of different ages change an app's record: a form, or JSON with fields in any case. */
import type { AppChange } from '../../domain/apps/app-changes.ts';
import type { SettingsChange } from '../../domain/apps/app-settings.ts';
import { isRecord } from '../../lib/is-record.ts';
import { parseJson, type RawBody, readFlag, readLowerCased, scalarText, textOf } from '../body.ts';
import { Type } from '../schema.ts';

interface ChangeInput {
  readonly change: AppChange;
  /** Only the oldest clients change host names here; '' takes them away, absent is as before. */
  readonly cname?: string;
}

/** A name, or an object with it. */
export const planText = Type.Optional(Type.Unsafe<string | object | null>({ type: ['string', 'object', 'null'] }));

/** Process name -> command; in a form as JSON. */
export const startCommands = Type.Optional(Type.Unsafe<object | string | null>({ type: ['object', 'string', 'null'] }));

/** Clients send every field, most of them empty: what is empty stays as it is. */
export function readChange(body: RawBody): ChangeInput {
  const fields = readLowerCased(body);
  const text = (name: string): string | undefined => textOf(name, fields.get(name)) || undefined;
  const cname = fields.get('cname');
  if (!Array.isArray(cname)) textOf('cname', cname);
  return {
    change: {
      description: text('description'),
      platform: text('platform'),
      teamOwner: text('teamowner'),
      pool: text('pool'),
      plan: planName(fields.get('plan')) || undefined,
      ...settingsOf(fields),
    },
    ...(typeof cname === 'string' && { cname }),
  };
}

/** Its name, or an object with the name, as clients before 1.0 send it. Empty: none. Throws `input.invalid`. */
export function planName(plan: unknown): string {
  if (typeof plan !== 'object' || plan === null || Array.isArray(plan)) return textOf('plan', plan);
  const entry = Object.entries(plan).find(([name]) => name.toLowerCase() === 'name');
  return textOf('plan', entry?.[1]);
}

/** No older client knows them, so what is empty means something here. Throws `input.invalid`, `input.invalid_json`. */
function settingsOf(fields: ReadonlyMap<string, unknown>): SettingsChange {
  const text = (name: string): string | undefined => {
    const value = fields.get(name.toLowerCase()) ?? undefined;
    return value === undefined ? undefined : scalarText(name, value);
  };
  const keepDevPackages = text('keepDevPackages');
  return {
    startCommands: commandsOf(fields.get('startcommands') ?? undefined),
    buildCommand: text('buildCommand'),
    root: text('root'),
    keepDevPackages: keepDevPackages && readFlag('keepDevPackages', keepDevPackages),
  };
}

function commandsOf(given: unknown): unknown {
  if (given === undefined || given === '') return undefined;
  if (isRecord(given)) return given;
  return parseJson({ text: textOf('startCommands', given), mediaType: 'application/json' });
}
