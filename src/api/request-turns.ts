/**
 * What one caller may have under way at a time, so that nobody's requests take the server away from others. More of them wait for each
 * other, unread, and what is more than may wait is refused. Reads, changes, what goes on for long and uploads each have their own turns, so
 * none of them holds up another kind. What is followed, commands and shells have bounds in their use cases.
 */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import { PlatformError } from '../domain/errors.ts';
import { KeyedTurns } from '../lib/keyed-turns.ts';
import { addressGroup } from '../lib/trusted-proxies.ts';
import type { Call } from './call.ts';
import { limitBodyTime } from './incoming.ts';
import { changes, type Operation } from './operation.ts';

type Kind = 'reads' | 'changes' | 'long' | 'uploads';

/** More than clients have under way: browsers open 6 connections, infrastructure tools make 10 changes at once. */
const AT_ONCE: Readonly<Record<Kind, number>> = { reads: 16, changes: 16, long: 16, uploads: 8 };
const WAITING = 256;
const RETRY_SECONDS = 5;

export class RequestTurns {
  readonly #turns: Readonly<Record<Kind, KeyedTurns>> = {
    reads: turnsOf('reads'),
    changes: turnsOf('changes'),
    long: turnsOf('long'),
    uploads: turnsOf('uploads'),
  };

  /** Resolves when it is the call's turn, which `call.endTurn` ends. Throws `too_many_requests`, `cancelled`. */
  async begin(call: Call, operation: Operation, request: IncomingMessage): Promise<void> {
    const kind = kindOf(operation);
    const key = keyOf(call.caller);
    if (kind === null || key === null) return;
    const turns = this.#turns[kind];
    const end = turns.begin(key);
    if (end !== null) {
      call.endTurn = end;
      return;
    }
    const turn = turns.wait(key);
    if (turn === null) throw tooMany();
    // Nobody reads the body meanwhile, however fast it is sent.
    call.endBodyLimit();
    call.endTurn = await turn;
    call.endBodyLimit = limitBodyTime(request);
    if (!call.hasLeft) return;
    call.endTurn();
    throw left();
  }
}

function turnsOf(kind: Kind): KeyedTurns {
  return new KeyedTurns({ atOnce: AT_ONCE[kind], waiting: WAITING });
}

/** Null for what its use case bounds. */
function kindOf(operation: Operation): Kind | null {
  switch (operation.answer) {
    case 'upload':
      return 'uploads';
    case 'progress':
    case 'proxied':
      return 'long';
    case 'output':
    case 'shell':
    case 'edge':
      return null;
    default:
      return changes(operation) ? 'changes' : 'reads';
  }
}

/** Whose turns they are: those of an app token belong to who made it. Null for the platform and the owner of the machine. */
function keyOf(caller: Caller): string | null {
  if (caller.kind === 'user') return caller.via === 'socket' ? null : `user ${caller.email}`;
  if (caller.kind === 'app') return `user ${caller.by}`;
  return caller.kind === 'platform' ? null : `address ${addressGroup(caller.address)}`;
}

function tooMany(): PlatformError {
  return new PlatformError('too_many_requests', 'Too many requests of yours are under way already.', {
    hint: `Wait for answers before you ask for more; try again in ${RETRY_SECONDS} s.`,
    details: { retryAfterSeconds: RETRY_SECONDS },
  });
}

function left(): PlatformError {
  return new PlatformError('cancelled', 'The client left before it was its turn.', { hint: 'Send it again.' });
}
