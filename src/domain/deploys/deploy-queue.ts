/**
 * The deploys that go on in this process: one of an app after the other, in order of arrival. A deploy is known from the moment it
 * is asked for, so one that waits can be seen, cancelled and replaced like one that builds.
 */
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { PlatformError } from '../errors.ts';
import { Failure } from '../failure.ts';

/** `waiting`: for its turn or for a build slot; `switching`: from the built code to what serves. */
type DeployStage = 'waiting' | 'building' | 'switching';

/** What a newer push of the same reference takes the place of: those that wait, or also the one that builds. */
export type Replaces = 'waiting' | 'building';

interface DeployRequest {
  /** Of the deploy. */
  readonly id: string;
  readonly app: string;
  readonly by: string;
  /** What the code is pushed to, `refs/heads/main`; '' for code that no later one can replace. */
  readonly ref: string;
  /** The caller's own way to give up. */
  readonly signal: AbortSignal;
}

export interface QueuedDeploy {
  readonly id: string;
  /** Aborted when it is to end; before the commit it then ends as cancelled. The reason says who wanted it. */
  readonly signal: AbortSignal;
  /** Who asked for those whose place it has taken. */
  readonly replaced: string[];
  /** For people: what it waits for; '' while it does not wait. */
  waitsFor: string;
  stage: DeployStage;
  /** How many of the same app are before it. */
  ahead(): number;
  /** Resolves when those before it are over; rejects when it is cancelled. */
  turn(): Promise<void>;
  /** To be called in any case. The next of the app has its turn once `over` has settled, too. */
  leave(over?: Promise<unknown>): void;
}

interface Entry extends QueuedDeploy {
  readonly request: DeployRequest;
  cancel(reason: Failure): void;
  readonly left: Promise<void>;
}

const MAX_PER_APP = 20;

export class DeployQueue {
  readonly #replaces: Replaces;
  readonly #entries = new Map<string, Entry>();
  readonly #order = new KeyedQueue();

  constructor(replaces: Replaces = 'waiting') {
    this.#replaces = replaces;
  }

  /** Throws `app.busy` when too many of the app wait. */
  enter(request: DeployRequest): QueuedDeploy {
    const others = this.#of(request.app);
    demandPlace(request.app, others.length);
    const replaced = request.ref === '' ? [] : others.filter((other) => this.#isReplaced(other, request));
    for (const other of replaced) {
      other.cancel(new Failure('cancelled', `A newer push by ${request.by} has taken its place.`));
    }
    return this.#add(
      request,
      replaced.map(({ request: { by } }) => by),
    );
  }

  /** One that waits for nobody and for that nobody waits: it has the app already. */
  join(request: DeployRequest): QueuedDeploy {
    return this.#add(request, [], false);
  }

  /** Those that have deploys here. */
  apps(): ReadonlySet<string> {
    return new Set([...this.#entries.values()].map(({ request }) => request.app));
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** What the deploy waits for; '' when it does not wait. */
  waitsFor(id: string): string {
    return this.#entries.get(id)?.waitsFor ?? '';
  }

  /** Whether a deploy of the app, other than this one, has begun. */
  isOtherAtWork(app: string, id: string): boolean {
    return this.#of(app).some((entry) => entry.id !== id && entry.stage !== 'waiting');
  }

  /** Resolves when the deploy is over, one way or the other; at once when it is not here. */
  async cancel(id: string, reason: Failure): Promise<void> {
    const entry = this.#entries.get(id);
    entry?.cancel(reason);
    await entry?.left;
  }

  /** Resolves when none of the app goes on any more. */
  async cancelAll(app: string, reason: Failure): Promise<void> {
    await Promise.all(this.#of(app).map(({ id }) => this.cancel(id, reason)));
  }

  #of(app: string): Entry[] {
    return [...this.#entries.values()].filter(({ request }) => request.app === app);
  }

  #isReplaced({ request, stage, signal }: Entry, { ref }: DeployRequest): boolean {
    if (request.ref !== ref || signal.aborted) return false;
    return stage === 'waiting' || (stage === 'building' && this.#replaces === 'building');
  }

  #add(request: DeployRequest, replaced: string[], isQueued = true): QueuedDeploy {
    const { id, app } = request;
    const own = new AbortController();
    const signal = AbortSignal.any([request.signal, own.signal]);
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => (leave = resolve));
    let over: Promise<unknown> = Promise.resolve();
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const place = async (): Promise<void> => {
      begin();
      await left;
      await over.catch(() => undefined);
    };
    const held = isQueued ? this.#order.run(app, place, signal) : place();
    held.catch(() => undefined);
    const entry: Entry = {
      id,
      request,
      signal,
      replaced,
      left,
      waitsFor: '',
      stage: 'waiting',
      ahead: () => this.#of(app).findIndex((other) => other.id === id),
      turn: () => Promise.race([begun, held]),
      cancel: (reason) => own.abort(reason),
      leave: (given = over) => {
        if (!this.#entries.delete(id)) return;
        over = given;
        leave();
      },
    };
    this.#entries.set(id, entry);
    return entry;
  }
}

/** Throws `app.busy` when too many of the app wait. */
export function demandPlace(app: string, waiting: number): void {
  if (waiting < MAX_PER_APP) return;
  throw new PlatformError('app.busy', `${waiting} deploys of ${app} are waiting already.`, {
    hint: `Let them end, or cancel some: tancho deploy cancel -a ${app}`,
  });
}
