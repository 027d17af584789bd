import { Type } from '../schema.ts';
import { shape } from './shape.ts';

export const metadata = shape(Type.Object({ version: Type.String() }), (value: { version: string }) => value);
