import type { PlatformEvent } from '../../domain/audit/events.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';
import { ZERO_DATE } from './wire-time.ts';

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
