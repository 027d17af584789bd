import type { BackupsView } from '../../domain/backups/backups.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

const one = Type.Object({
  name: Type.String(),
  made_at: Type.String(),
  bytes: Type.Integer(),
  version: Type.String(),
});

export const backups = shape(
  Type.Object({
    /** '' where none are made. */
    directory: Type.String(),
    /** 0: only when somebody asks. */
    every_seconds: Type.Integer(),
    keep: Type.Integer(),
    /** '' for never. */
    tried_at: Type.String(),
    succeeded_at: Type.String(),
    /** Why the last one failed; '' if it did not. */
    problem: Type.String(),
    /** When the next one is made by itself; '' where none is. */
    next_at: Type.String(),
    backups: Type.Array(one),
  }),
  ({ place, everySeconds, keep, state, nextAt, backups: made }: BackupsView) => ({
    directory: place,
    every_seconds: everySeconds,
    keep,
    tried_at: state.triedAt,
    succeeded_at: state.succeededAt,
    problem: state.problem,
    next_at: nextAt,
    backups: made.map(({ name, madeAt, bytes, version }) => ({ name, made_at: madeAt, bytes, version })),
  }),
);
