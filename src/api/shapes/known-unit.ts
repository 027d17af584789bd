import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const schema = Type.Array(Type.Object({ ID: Type.String(), Found: Type.Boolean() }));

export const knownUnits = shape(schema, (units: readonly { readonly id: string; readonly isFound: boolean }[]) =>
  units.map(({ id, isFound }) => ({ ID: id, Found: isFound })),
);
