/** Keeps the private values of an app's environment out of what is shown or stored. */
import { type Redactor, redactorOf, secretForms } from '../../lib/redact.ts';
import type { EnvVar } from '../apps/app.ts';
import { Failure } from '../failure.ts';

export function privateValues(env: readonly EnvVar[]): Redactor {
  return redactorOf(privateForms(env));
}

/** Some fifteen for each value; the units of a release, of which there may be thousands, share theirs. */
const known = new WeakMap<readonly EnvVar[], readonly string[]>();

/** As which they may be printed. */
export function privateForms(env: readonly EnvVar[]): readonly string[] {
  const forms = known.get(env) ?? secretForms(env.filter((variable) => !variable.public).map(({ value }) => value));
  known.set(env, forms);
  return forms;
}

/** What a unit or a command printed may stand in a Failure; any other error passes unchanged. */
export function withoutPrivateValues(error: unknown, redact: Redactor): unknown {
  if (!(error instanceof Failure)) return error;
  const { hint, exitCode } = error;
  const lines = error.lines.map(redact);
  return new Failure(error.code, redact(error.message), { hint, lines, exitCode });
}
