/**
 * What one caller may have under way at a time, so that nobody's requests take the server away from others. More of them wait for each
 * other, unread, and what is more than may wait is refused. Reads, changes, what goes on for long and uploads each have their own turns, so
 * none of them holds up another kind. What is followed, commands and shells have bounds in their use cases.
 */
import type { IncomingMessage } from 'node:http';
import { AT_ONCE, countedFor, MOST_WAITING, tooManyAtOnce } from '../domain/at-once.ts';
import { PlatformError } from '../domain/errors.ts';
import { KeyedTurns } from '../lib/keyed-turns.ts';
import type { Call } from './call.ts';
import { limitBodyTime } from './incoming.ts';
import { changes, type Operation } from './operation.ts';

type Kind = 'reads' | 'slowReads' | 'changes' | 'long' | 'uploads';

export class RequestTurns {
  readonly #turns: Readonly<Record<Kind, KeyedTurns>> = {
    reads: turnsOf('reads'),
    slowReads: turnsOf('slowReads'),
    changes: turnsOf('changes'),
    long: turnsOf('long'),
    uploads: turnsOf('uploads'),
  };

  /** Resolves when it is the call's turn, which `call.endTurn` ends. Throws `too_many_requests`, `cancelled`. */
  async begin(call: Call, operation: Operation, request: IncomingMessage): Promise<void> {
    const kind = kindOf(operation);
    const key = countedFor(call.caller);
    if (kind === null || key === null) return;
    const turns = this.#turns[kind];
    const end = turns.begin(key);
    if (end !== null) {
      call.endTurn = end;
      return;
    }
    const turn = turns.wait(key);
    if (turn === null) throw tooManyAtOnce('requests');
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
  return new KeyedTurns({ atOnce: AT_ONCE[kind], waiting: MOST_WAITING });
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
    case 'entries':
      return 'slowReads';
    default:
      if (changes(operation)) return 'changes';
      return operation.isSlow === true ? 'slowReads' : 'reads';
  }
}

function left(): PlatformError {
  return new PlatformError('cancelled', 'The client left before it was its turn.', { hint: 'Send it again.' });
}
