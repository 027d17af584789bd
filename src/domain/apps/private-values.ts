import { createRedactor, type Redactor } from '../../lib/redact.ts';
import type { EnvVar } from './app.ts';

/** Hides the private values of an environment in whatever is printed, stored or answered. */
export function redactorOf(env: readonly EnvVar[]): Redactor {
  return createRedactor(env.filter((variable) => !variable.public).map((variable) => variable.value));
}
