/** Pure: variables of a binding under names of the app's own, such as those of two databases that both give DATABASE_URL. */
import { VARIABLE_NAME } from '../env/env-rules.ts';
import { PlatformError } from '../errors.ts';
import type { VariableNames } from './service.ts';

const MAX_NAMES = 50;

/** Of texts such as `POSTGRES_URL=DATABASE_URL`. Throws `input.invalid`. */
export function readNames(texts: readonly unknown[]): VariableNames {
  const pairs = texts.map((text) => (typeof text === 'string' ? text.split('=') : []));
  const isGood = pairs.every((pair) => pair.length === 2 && pair.every((name) => VARIABLE_NAME.test(name)));
  const names = Object.fromEntries(pairs) as Record<string, string>;
  if (isGood && pairs.length <= MAX_NAMES && Object.keys(names).length === pairs.length) return names;
  throw new PlatformError(
    'input.invalid',
    'Variables are renamed as NEW_NAME=NAME_OF_THE_SERVICE, each new name once.',
    {
      hint: 'For example: --as POSTGRES_URL=DATABASE_URL',
    },
  );
}

/** What the app sees; a variable that has another name is not seen under its first one. */
export function renamed(vars: Readonly<Record<string, string>>, names: VariableNames): Record<string, string> {
  const replaced = new Set(Object.values(names));
  const kept = Object.entries(vars).filter(([name]) => !replaced.has(name));
  const own = Object.entries(names).flatMap(([name, given]) => {
    const value = Object.hasOwn(vars, given) ? vars[given] : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries([...kept, ...own].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Throws `input.invalid` for a name that the instance does not give, `binding.conflict` for one that it gives to something else. */
export function checkNames(names: VariableNames, vars: Readonly<Record<string, string>>, instance: string): void {
  const replaced = new Set(Object.values(names));
  for (const [own, given] of Object.entries(names)) {
    if (!Object.hasOwn(vars, given)) {
      throw new PlatformError('input.invalid', `The instance ${instance} gives no variable ${given}.`, {
        hint: `It gives: ${Object.keys(vars).join(', ') || 'none'}. Write the new name first: --as POSTGRES_URL=DATABASE_URL`,
      });
    }
    if (Object.hasOwn(vars, own) && !replaced.has(own)) {
      throw new PlatformError('binding.conflict', `The instance ${instance} gives a variable ${own} of its own.`, {
        hint: `Rename that as well, or choose another name for ${given}.`,
      });
    }
  }
}
