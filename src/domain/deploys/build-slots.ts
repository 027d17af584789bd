/** How many builds run at once on this machine. Whoever waits is served in turn with the others; of one owner the first comes first. */

interface BuildRequest {
  /** Slots are shared fairly among owners. */
  readonly owner: string;
  readonly signal: AbortSignal;
  /** Called with how many builds have to end before this one begins, whenever that changes. */
  readonly onWait: (builds: number) => void;
}

interface Waiting extends BuildRequest {
  readonly begin: () => void;
  announced: number;
}

export class BuildSlots {
  readonly #slots: number;
  readonly #waiting: Waiting[] = [];
  /** When each owner was last given a slot, as a running number. */
  readonly #served = new Map<string, number>();
  #running = 0;
  #count = 0;

  /** `slots`: at least 1. */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Runs `work` in a slot. Rejects with the signal's reason when it fires while it waits. */
  async run<T>(request: BuildRequest, work: () => Promise<T>): Promise<T> {
    await this.#turn(request);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#serve();
    }
  }

  async #turn(request: BuildRequest): Promise<void> {
    const { signal } = request;
    signal.throwIfAborted();
    let onAbort = (): void => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = { ...request, begin: resolve, announced: 0 };
        onAbort = () => {
          const at = this.#waiting.indexOf(waiting);
          // One that has begun sees the signal itself.
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          this.#announce();
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', onAbort, { once: true });
        this.#waiting.push(waiting);
        this.#serve();
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #serve(): void {
    while (this.#running < this.#slots) {
      const next = firstOf(this.#waiting, this.#served);
      if (next === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#running += 1;
      this.#count += 1;
      this.#served.set(next.owner, this.#count);
      next.begin();
    }
    if (this.#running === 0) this.#served.clear();
    this.#announce();
  }

  /** Plays out the order in which slots will be given. */
  #announce(): void {
    const left = [...this.#waiting];
    const served = new Map(this.#served);
    for (let ends = 1; left.length > 0; ends++) {
      const next = firstOf(left, served);
      if (next === undefined) return;
      left.splice(left.indexOf(next), 1);
      served.set(next.owner, this.#count + ends);
      if (next.announced === ends) continue;
      next.announced = ends;
      next.onWait(ends);
    }
  }
}

/** Of the owner whose last slot is longest ago, the one that came first. */
function firstOf(waiting: readonly Waiting[], served: ReadonlyMap<string, number>): Waiting | undefined {
  const last = ({ owner }: Waiting): number => served.get(owner) ?? 0;
  return waiting.reduce<Waiting | undefined>(
    (best, one) => (best === undefined || last(one) < last(best) ? one : best),
    undefined,
  );
}
