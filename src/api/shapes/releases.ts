import { Type } from '../schema.ts';
import type { Release } from '../../domain/apps/app.ts';
import type { ListedRelease, ReleaseComparison } from '../../domain/apps/releases.ts';
import { shape } from './shape.ts';

const facts = {
  release: Type.Integer(),
  reason: Type.String(),
  by: Type.String(),
  created_at: Type.String(),
  commit: Type.String(),
  image: Type.String(),
  deploy: Type.String(),
};

const change = Type.Object({
  part: Type.String(),
  name: Type.String(),
  kind: Type.String(),
  before: Type.String(),
  after: Type.String(),
  private: Type.Boolean(),
});

function toWire({ number, reason, by, createdAt, commit, image, deployId }: Release) {
  return { release: number, reason, by, created_at: createdAt, commit, image, deploy: deployId ?? '' };
}

export const releases = shape(
  Type.Array(Type.Object({ ...facts, current: Type.Boolean() })),
  (list: readonly ListedRelease[]) =>
    list.map(({ release, isCurrent }) => ({ ...toWire(release), current: isCurrent })),
);

export const releaseComparison = shape(
  Type.Object({ app: Type.String(), from: Type.Object(facts), to: Type.Object(facts), changes: Type.Array(change) }),
  ({ app, from, to, changes }: ReleaseComparison) => ({
    app,
    from: toWire(from),
    to: toWire(to),
    changes: changes.map(({ part, name, kind, before, after, isPrivate }) => ({
      part,
      name,
      kind,
      before,
      after,
      private: isPrivate,
    })),
  }),
);
