/** Keeps the private values of an app's environment out of what is shown or stored. */
import { type Redactor, redactorOf, secretForms } from '../../lib/redact.ts';
import type { EnvVar } from '../apps/app.ts';
import { Failure } from '../failure.ts';

export function privateValues(env: readonly EnvVar[]): Redactor {
  return redactorOf(privateForms(env));
}

/** As which they may be printed. */
export function privateForms(env: readonly EnvVar[]): string[] {
  return secretForms(env.filter((variable) => !variable.public).map((variable) => variable.value));
}

/** What a unit or a command printed may stand in a Failure; any other error passes unchanged. */
export function withoutPrivateValues(error: unknown, redact: Redactor): unknown {
  if (!(error instanceof Failure)) return error;
  const { hint, exitCode } = error;
  const lines = error.lines.map(redact);
  return new Failure(error.code, redact(error.message), { hint, lines, exitCode });
}
