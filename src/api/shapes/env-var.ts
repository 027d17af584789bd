import { Type } from '../schema.ts';
import type { EnvVar } from '../../domain/apps/app.ts';
import { shape } from './shape.ts';

const schema = Type.Array(Type.Object({ name: Type.String(), value: Type.String(), public: Type.Boolean() }));

export const envVars = shape(schema, (vars: readonly EnvVar[]) =>
  vars.map((variable) => ({ name: variable.name, value: variable.value, public: variable.public })),
);
