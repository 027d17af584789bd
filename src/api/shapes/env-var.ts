import { Type } from '../schema.ts';
import type { EnvVar } from '../../domain/apps/app.ts';
import { shape } from './shape.ts';

const published = { name: Type.String(), value: Type.String(), public: Type.Boolean() };

export const envVars = shape(Type.Array(Type.Object(published)), (vars: readonly EnvVar[]) =>
  vars.map(({ name, value, public: isPublic }) => ({ name, value, public: isPublic })),
);

/** `managedBy`: of what a binding has set, its instance; it changes with the binding only. */
export const envVarsUnion = shape(
  Type.Array(Type.Object({ ...published, managedBy: Type.Optional(Type.String()) })),
  (vars: readonly EnvVar[]) =>
    vars.map(({ name, value, public: isPublic, managedBy }) => ({
      ...{ name, value, public: isPublic },
      ...(managedBy !== '' && { managedBy }),
    })),
);
