/**
 * Browsers make six connections to a server over HTTP/1.1, for all their pages together, and an answer that never ends takes one of them for
 * itself. Of all pages that follow something the oldest few have it streamed; the others ask again and again, and leave room for what is
 * asked beside that. Pages notify each other, so that the next one moves up when one of these is closed.
 */
const CHANNEL = 'tancho-streams';
export const MOST_STREAMS = 3;

interface Said {
  readonly id: string;
  readonly since: number;
  /** `asks`: who else is there? `is`: the answer to that. */
  readonly what: 'asks' | 'is' | 'goes';
}

type Member = Pick<Said, 'id' | 'since'>;

export class StreamSlot {
  readonly #own: Member = { id: `${performance.timeOrigin} ${Math.random()}`, since: Date.now() };
  readonly #others = new Map<string, Member>();
  readonly #channel = new BroadcastChannel(CHANNEL);
  readonly #lost: () => void;

  /** `lost`: called whenever another page is found that comes first. */
  constructor(lost: () => void) {
    this.#lost = lost;
    this.#channel.onmessage = (event) => this.#hear(event.data as Said);
    this.#say('asks');
  }

  get isFree(): boolean {
    const before = [...this.#others.values()].filter((one) => isOlder(one, this.#own));
    return before.length < MOST_STREAMS;
  }

  /** Who was closed without a word does not answer: what is known is asked for anew. */
  askAgain(): void {
    this.#others.clear();
    this.#say('asks');
  }

  leave(): void {
    this.#say('goes');
    this.#channel.close();
  }

  #hear({ id, since, what }: Said): void {
    if (what === 'goes') {
      this.#others.delete(id);
      return;
    }
    this.#others.set(id, { id, since });
    if (what === 'asks') this.#say('is');
    if (!this.isFree) this.#lost();
  }

  #say(what: Said['what']): void {
    this.#channel.postMessage({ ...this.#own, what } satisfies Said);
  }
}

function isOlder(one: Member, other: Member): boolean {
  return one.since === other.since ? one.id < other.id : one.since < other.since;
}
