import type { LogPage } from '../../domain/audit/event-log.ts';
import type { PlatformEvent } from '../../domain/audit/events.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';
import { ZERO_DATE } from './wire-time.ts';

const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
const typed = Type.Object({ Type: Type.String(), Value: Type.String() });
const named = Type.Object({ Type: Type.String(), Name: Type.String() });

/** As clients from 1.1 on read it. */
const event = Type.Object({
  UniqueID: Type.String(),
  StartTime: Type.String(),
  EndTime: Type.String(),
  Target: typed,
  Kind: named,
  Owner: named,
  SourceIP: Type.String(),
  Error: Type.String(),
  Log: Type.String(),
  Running: Type.Boolean(),
  Cancelable: Type.Boolean(),
  Refused: Type.Boolean(),
  /** How the owner was known, with the beginning of the token's hash. */
  Token: Type.String(),
  /** Milliseconds; 0 while it goes on. */
  Duration: Type.Integer(),
  /** The deploy that it made, whose log says more; empty for none. */
  Deploy: Type.String(),
  /** What it changed; private values are replaced. */
  Changes: Type.Array(
    Type.Object({
      Field: Type.String(),
      Before: nullableText,
      After: nullableText,
    }),
  ),
});

function toWire(one: PlatformEvent) {
  const colon = one.target.indexOf(':');
  return {
    UniqueID: one.id,
    StartTime: one.at,
    EndTime: one.endedAt === '' ? ZERO_DATE : one.endedAt,
    Target: { Type: one.target.slice(0, Math.max(colon, 0)), Value: one.target.slice(colon + 1) },
    Kind: { Type: 'permission', Name: one.action },
    Owner: ownerOf(one.actor),
    SourceIP: one.address,
    Error: one.error,
    Log: one.detail,
    Running: one.endedAt === '',
    Cancelable: false,
    Refused: one.isRefusal,
    Token: one.token,
    Duration: one.endedAt === '' ? 0 : Math.max(0, Date.parse(one.endedAt) - Date.parse(one.at)),
    Deploy: one.deploy,
    Changes: one.changes.map(({ field, before, after }) => ({ Field: field, Before: before, After: after })),
  };
}

function ownerOf(actor: string): { Type: string; Name: string } {
  if (actor.includes('@')) return { Type: 'user', Name: actor };
  return actor.startsWith('app:')
    ? { Type: 'app', Name: actor.slice('app:'.length) }
    : { Type: 'internal', Name: actor };
}

export const eventInfo = shape(event, toWire);
export const events = shape(Type.Array(event), (list: readonly PlatformEvent[]) => list.map(toWire));

/** `content` is null where it is forgotten, or lost. */
export const auditLog = shape(
  Type.Object({
    rows: Type.Array(
      Type.Object({
        index: Type.Integer(),
        leaf: Type.String(),
        salt: Type.String(),
        content: nullableText,
      }),
    ),
    checkpoints: Type.Array(Type.String()),
    size: Type.Integer(),
    checkpoint: Type.String(),
    key: Type.String(),
  }),
  ({ rows, checkpoints, head, key }: LogPage) => ({
    rows: rows.map(({ index, leaf, salt, content }) => ({ index, leaf, salt, content })),
    checkpoints: checkpoints.map(({ note }) => note),
    size: head.size,
    checkpoint: head.note,
    key,
  }),
);
