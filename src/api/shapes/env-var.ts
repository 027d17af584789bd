import { Type } from '../schema.ts';
import type { EnvVar } from '../../domain/apps/app.ts';
import { shape } from './shape.ts';

/** `managedBy`: of what a binding has set, the instance; who wants another value binds anew. */
const schema = Type.Array(
  Type.Object({
    name: Type.String(),
    value: Type.String(),
    public: Type.Boolean(),
    managedBy: Type.Optional(Type.String()),
  }),
);

export const envVars = shape(schema, (vars: readonly EnvVar[]) =>
  vars.map(({ name, value, public: isPublic, managedBy }) => ({
    ...{ name, value, public: isPublic },
    ...(managedBy !== '' && { managedBy }),
  })),
);
