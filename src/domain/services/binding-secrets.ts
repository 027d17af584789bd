/** Keeps the credentials of bindings out of what a provider says of itself; names and addresses in it stay. */
import { withoutCredentials } from '../../lib/credentials-in-text.ts';
import { createRedactor, passwordsIn, type Redactor } from '../../lib/redact.ts';
import type { Binding } from './service.ts';

const SECRET_NAME = /PASS|PWD|SECRET|TOKEN|KEY|CRED|CERT/i;

export function secretsOf(bindings: readonly Pick<Binding, 'vars'>[]): Redactor {
  const secrets = bindings.flatMap(({ vars }) =>
    Object.entries(vars).flatMap(([name, value]) => [
      ...(SECRET_NAME.test(name) ? [value] : []),
      ...passwordsIn(value),
    ]),
  );
  const redact = createRedactor(secrets);
  return (text) => withoutCredentials(redact(text));
}
