import { shownReceiver } from '../../domain/drains/drain.ts';
import type { DrainTest, DrainView } from '../../domain/drains/drains.ts';
import { Type } from '../schema.ts';
import { shape } from './shape.ts';

/** `app` is empty for the lines of all apps, times for what has never been. Of headers the names alone are shown, of addresses no path. */
const fields = Type.Object({
  id: Type.String(),
  app: Type.String(),
  format: Type.String(),
  receiver: Type.String(),
  headers: Type.Array(Type.String()),
  /** Lines that the receiver does not have yet. */
  waiting: Type.Integer(),
  /** Lines that it will never have: removed before they could be sent, or refused. */
  lost: Type.Integer(),
  last_success_at: Type.String(),
  last_error_at: Type.String(),
  last_error: Type.String(),
  /** Attempts that failed since the last that did not. */
  failures: Type.Integer(),
  created_by: Type.String(),
  created_at: Type.String(),
});

function toWire({ drain, cursor, waiting }: DrainView) {
  return {
    id: drain.id,
    app: drain.app,
    format: drain.target.format,
    receiver: shownReceiver(drain.target),
    headers: Object.keys(drain.target.headers),
    waiting,
    lost: cursor?.lost ?? 0,
    last_success_at: cursor?.lastSuccessAt ?? '',
    last_error_at: cursor?.lastErrorAt ?? '',
    last_error: cursor?.lastError ?? '',
    failures: cursor?.failures ?? 0,
    created_by: drain.by,
    created_at: drain.createdAt,
  };
}

export const drain = shape(fields, toWire);
export const drains = shape(Type.Array(fields), (views: readonly DrainView[]) => views.map(toWire));
export const drainTest = shape(
  Type.Object({ delivered: Type.Boolean(), answer: Type.String() }),
  ({ isDelivered, answer }: DrainTest) => ({ delivered: isDelivered, answer }),
);
