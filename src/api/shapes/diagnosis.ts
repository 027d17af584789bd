import type { Diagnosis, LinkState } from '../../domain/diagnosis/diagnosis.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const link = Type.Object({
  link: Type.String(),
  asks: Type.String(),
  state: Type.Unsafe<LinkState>({ type: 'string', enum: ['holds', 'broken', 'not looked at'] }),
});

const broken = {
  link: Type.String(),
  cause: Type.String(),
  command: Type.String(),
  lines: Type.Array(Type.String()),
};

interface BrokenShape {
  link: string;
  cause: string;
  command: string;
  lines: string[];
}

const schema = Type.Object({
  app: Type.String(),
  host: Type.String(),
  url: Type.String(),
  well: Type.Boolean(),
  answers: Type.Boolean(),
  broken: Type.Unsafe<BrokenShape | null>({
    type: ['object', 'null'],
    properties: broken,
    required: Object.keys(broken),
  }),
  links: Type.Array(link),
  notes: Type.Array(Type.String()),
});

export const diagnosis = shape(schema, ({ broken: found, links, notes, ...facts }: Diagnosis) => ({
  ...facts,
  broken: found === null ? null : { ...found, lines: [...(found.lines ?? [])] },
  links: [...links],
  notes: [...notes],
}));
