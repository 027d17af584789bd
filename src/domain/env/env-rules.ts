/** What a variable of an app's environment may be. */
import { PlatformError } from '../errors.ts';
import type { EnvVar } from '../apps/app.ts';

export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;
const MAX_VALUE_BYTES = 65_536;
export const MAX_VARIABLES = 1_000;
/** All names and values together: systems start no process with more than some 2 MiB of environment and arguments. */
const MAX_TOTAL_BYTES = 1024 * 1024;
/** Set by the platform for every unit; an app's own value would be a lie. */
const RESERVED = /^(?:PORT|TSURU_SERVICES|TANCHO_.*)$/;

/** Throws PlatformError `env.invalid`. */
export function checkVariable(input: { name: unknown; value: unknown; public: boolean }): EnvVar {
  const { name, value } = input;
  if (typeof name !== 'string' || !VARIABLE_NAME.test(name)) {
    throw new PlatformError(
      'env.invalid',
      'A variable name consists of letters, digits and _ and does not begin with a digit.',
      {
        hint: 'Rename the variable, for example DATABASE_URL.',
      },
    );
  }
  if (RESERVED.test(name)) {
    throw new PlatformError('env.invalid', `The variable ${name} is set by the platform.`, {
      hint: 'Choose another name.',
    });
  }
  if (typeof value !== 'string' || value.includes('\0') || Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw new PlatformError(
      'env.invalid',
      `The value of ${name} must be text without NUL, of at most ${MAX_VALUE_BYTES} bytes.`,
    );
  }
  return { name, value, public: input.public, managedBy: '' };
}

/** Throws PlatformError `env.invalid` when an app's whole environment is too large. */
export function checkTotal(vars: readonly EnvVar[]): void {
  demandFew(vars.length);
  const bytes = vars.reduce((sum, { name, value }) => sum + name.length + Buffer.byteLength(value) + 2, 0);
  if (bytes > MAX_TOTAL_BYTES) {
    throw new PlatformError('env.invalid', `The environment of an app may take at most ${MAX_TOTAL_BYTES} bytes.`, {
      hint: 'Keep what is large in a file or a store, and only where it is in a variable.',
    });
  }
}

/** Throws PlatformError `env.invalid` when more are named than an app may have. */
export function wantedNames(names: readonly string[]): ReadonlySet<string> {
  demandFew(names.length);
  return new Set(names);
}

/** Throws PlatformError `env.invalid` for more variables than an app may have. */
export function demandFew(count: number): void {
  if (count <= MAX_VARIABLES) return;
  throw new PlatformError('env.invalid', `An app may have at most ${MAX_VARIABLES} environment variables.`);
}
