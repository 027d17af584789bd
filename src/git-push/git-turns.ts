/** How many git processes there are at a time, for all users together and for one. */
import { AT_ONCE, CallerPlaces, countedFor, MOST_WAITING, tooManyAtOnce } from '../domain/at-once.ts';
import type { Caller } from '../domain/caller.ts';
import { PlatformError } from '../domain/errors.ts';
import { KeyedCounter } from '../lib/keyed-counter.ts';
import { KeyedTurns } from '../lib/keyed-turns.ts';
import { once } from '../lib/once.ts';
import type { GitServiceName } from './repositories.ts';

interface GitTurnRequest {
  readonly caller: Caller;
  readonly service: GitServiceName;
}

interface Turn {
  readonly leave: () => void;
  readonly hasWaited: boolean;
}

const MOST = 64;
/** Beyond half of all, one may have so many, so that a few who take all they can get leave places for others. */
const FEW = 2;

/** What only reads waits for its turn. A push does not: those before it may build for long. */
export class GitTurns {
  readonly #fetches = new KeyedTurns({ atOnce: AT_ONCE.fetches, waiting: MOST_WAITING });
  readonly #pushes = new CallerPlaces(AT_ONCE.pushes, 'pushes');
  readonly #ofCallers = new KeyedCounter();
  #underWay = 0;

  /** Resolves to what ends the turn. Throws `too_many_requests`, `unavailable`. */
  async begin(request: GitTurnRequest): Promise<() => void> {
    const isPush = request.service === 'git-receive-pack';
    const key = countedFor(request.caller);
    const { leave, hasWaited } = isPush ? this.#push(request.caller) : await this.#fetch(key);
    const own = key === null ? 0 : this.#ofCallers.of(key);
    // Who has waited takes the place of another one of the same caller.
    const isRefused = !hasWaited && this.#underWay >= MOST / 2 && own >= FEW;
    if (isRefused || this.#underWay >= MOST) {
      leave();
      throw isRefused ? tooManyAtOnce('git requests') : tooManyInAll();
    }
    const forget = key === null ? () => {} : this.#ofCallers.enter(key);
    this.#underWay += 1;
    return once(() => {
      this.#underWay -= 1;
      forget();
      leave();
    });
  }

  #push(caller: Caller): Turn {
    return { leave: this.#pushes.take(caller), hasWaited: false };
  }

  async #fetch(key: string | null): Promise<Turn> {
    if (key === null) return { leave: () => {}, hasWaited: false };
    const now = this.#fetches.begin(key);
    if (now !== null) return { leave: now, hasWaited: false };
    const turn = this.#fetches.wait(key);
    if (turn === null) throw tooManyAtOnce('git requests');
    return { leave: await turn, hasWaited: true };
  }
}

function tooManyInAll(): PlatformError {
  return new PlatformError('unavailable', 'Too many git requests are running.', { hint: 'Try again in a moment.' });
}
