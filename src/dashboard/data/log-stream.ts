/** A log as it is written: from its last lines on, through every cut of the connection, without a gap and without a line twice. */
import { signal } from '@preact/signals';
import { ask, call } from '../api/call.ts';
import { comebacks } from '../api/connection.ts';
import { eventBatches, type ServerEvent } from '../api/lines.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { LogBuffer } from './log-buffer.ts';
import { StreamSlot } from './streams.ts';

export type LogFilter = Readonly<
  Partial<Record<'unit' | 'process' | 'source' | 'deploy' | 'search' | 'regexp' | 'since' | 'until', string>>
>;

const FIRST_LINES = 1_000;
const OLDER_LINES = 1_000;
const BEGIN_MS = 30_000;
/** The server says every 15 seconds that it is there: a connection of which nothing is heard is gone, whatever the browser knows. */
const SILENT_MS = 45_000;
/** Where too many pages follow something for all to have it streamed. */
const ASK_AGAIN_MS = 1_000;
/** Too late, or too much at once. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 429]);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

export class LogStream {
  readonly buffer = new LogBuffer();
  /** Grows, at most once a frame, when the buffer has changed. */
  readonly version = signal(0);
  /** `past`: what was asked for ends before now, and is there. `behind`: what is held ends before the newest. */
  readonly state = signal<'connecting' | 'live' | 'past' | 'behind' | 'lost'>('connecting');
  /** Why there is nothing more to come. */
  readonly problem = signal<Problem | null>(null);
  readonly isAtStart = signal(false);
  /** Whether somebody reads what is held: then nothing of it goes for what is new. */
  isPaused = false;
  readonly #app: string;
  readonly #filter: LogFilter;
  #reading: AbortController | null = null;
  #frame = 0;
  #isLoading = false;
  /** Newer ones were dropped for older ones. */
  #isBehind = false;
  #wait = FIRST_WAIT_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(app: string, filter: LogFilter) {
    this.#app = app;
    this.#filter = filter;
  }

  /** The answer stops it. A page that nobody sees reads nothing: browsers allow six connections to a server, over all pages. */
  start(): () => void {
    const look = (): void => (document.visibilityState === 'visible' ? this.#connect() : this.#disconnect());
    document.addEventListener('visibilitychange', look);
    // Looks at once, too.
    const unsubscribe = comebacks.subscribe(look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      unsubscribe();
      this.#disconnect();
      cancelAnimationFrame(this.#frame);
    };
  }

  /** Reads what came before the first entry that is held. Resolves to how many these were. */
  async loadOlder(): Promise<number> {
    const { first } = this.buffer;
    if (first === undefined || this.#isLoading || this.isAtStart.value) return 0;
    this.#isLoading = true;
    try {
      const query = { ...this.#filter, lines: OLDER_LINES, before: first.Cursor };
      const older = await call('GET /apps/{app}/log', { params: { app: this.#app }, query });
      // Others are held by now.
      if (this.buffer.first?.Cursor !== first.Cursor) return 0;
      if (older.length === 0) this.isAtStart.value = true;
      if (!this.buffer.hasRoom(older.length)) {
        this.buffer.dropNewest(OLDER_LINES);
        this.#fallBehind();
      }
      const added = this.buffer.prepend(older);
      this.version.value += 1;
      return added;
    } finally {
      this.#isLoading = false;
    }
  }

  /** Reads what came after the last entry that is held, where that is not the newest. */
  async loadNewer(): Promise<void> {
    if (!this.#isBehind || this.#isLoading) return;
    this.#isLoading = true;
    try {
      const query = { ...this.#filter, lines: OLDER_LINES, after: this.buffer.lastCursor };
      const newer = await call('GET /apps/{app}/log', { params: { app: this.#app }, query });
      if (!this.#isBehind) return;
      this.buffer.append(newer);
      this.isAtStart.value = false;
      this.version.value += 1;
      if (newer.length < OLDER_LINES) this.#catchUp();
    } finally {
      this.#isLoading = false;
    }
  }

  /** To the newest ones, wherever one was. */
  toEnd(): void {
    if (!this.#isBehind) return;
    this.buffer.clear();
    this.isAtStart.value = false;
    this.version.value += 1;
    this.#catchUp();
  }

  #fallBehind(): void {
    this.#isBehind = true;
    this.state.value = 'behind';
    this.#disconnect();
  }

  #catchUp(): void {
    this.#isBehind = false;
    this.state.value = 'connecting';
    this.#connect();
  }

  #disconnect(): void {
    clearTimeout(this.#timer);
    this.#reading?.abort();
    this.#reading = null;
  }

  #connect(): void {
    if (this.#reading !== null || this.#isBehind || this.state.value === 'past') return;
    clearTimeout(this.#timer);
    this.problem.value = null;
    const reading = new AbortController();
    this.#reading = reading;
    void this.#readOn(reading.signal).then(
      () => this.#again(reading, null),
      (thrown: unknown) => this.#again(reading, problemOf(thrown)),
    );
  }

  #again(reading: AbortController, problem: Problem | null): void {
    if (reading.signal.aborted) return;
    this.#reading = null;
    if (problem === null && this.state.value === 'past') return;
    if (problem !== null && problem.status >= 400 && problem.status < 500 && !TEMPORARY.has(problem.status)) {
      // After the next sign-in it goes on.
      if (problem.code !== 'auth.required') this.problem.value = problem;
      return;
    }
    this.state.value = 'lost';
    this.#timer = setTimeout(() => this.#connect(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
  }

  /** Streamed where there is room for that, asked for again and again otherwise. */
  async #readOn(stop: AbortSignal): Promise<void> {
    if (this.#filter.until !== undefined) return this.#readPast(stop);
    let streaming = new AbortController();
    const slot = new StreamSlot(() => streaming.abort());
    try {
      while (!stop.aborted) {
        if (slot.isFree) {
          streaming = new AbortController();
          await this.#stream(AbortSignal.any([stop, streaming.signal])).catch((thrown: unknown) => {
            if (!streaming.signal.aborted) throw thrown;
          });
          if (!streaming.signal.aborted) return;
        } else {
          await this.#readNew(stop);
          slot.askAgain();
          await pause(ASK_AGAIN_MS, stop);
        }
      }
    } finally {
      slot.leave();
    }
  }

  /** What there is since the last entry. */
  async #readNew(stop: AbortSignal): Promise<void> {
    let found: number;
    do {
      const after = this.buffer.lastCursor;
      const query = { ...this.#filter, lines: FIRST_LINES, ...(after !== '' && { after }) };
      const entries = await call('GET /apps/{app}/log', { params: { app: this.#app }, query, signal: stop });
      this.state.value = 'live';
      this.#wait = FIRST_WAIT_MS;
      if (this.isPaused && !this.buffer.hasRoom(entries.length)) return this.#fallBehind();
      this.buffer.append(entries);
      if (entries.length > 0) this.#changed();
      found = after === '' ? 0 : entries.length;
    } while (found === FIRST_LINES);
  }

  async #stream(stop: AbortSignal): Promise<void> {
    const after = this.buffer.lastCursor;
    // After a cut everything since the last entry is asked for, however much that is.
    const query = { ...this.#filter, follow: 1, ...(after === '' ? { lines: FIRST_LINES } : { lines: 0, after }) };
    const silent = new AbortController();
    const within = (ms: number) => setTimeout(() => silent.abort(new DOMException('Too late.', 'TimeoutError')), ms);
    let late = within(BEGIN_MS);
    const input = { params: { app: this.#app }, query, signal: AbortSignal.any([stop, silent.signal]) };
    try {
      const response = await ask('GET /apps/{app}/log', input, 'text/event-stream, application/json');
      this.state.value = 'live';
      this.#wait = FIRST_WAIT_MS;
      clearTimeout(late);
      late = within(SILENT_MS);
      for await (const events of eventBatches(response)) {
        clearTimeout(late);
        late = within(SILENT_MS);
        if (stop.aborted) return;
        if (events.length > 0 && !this.#take(events)) return;
      }
    } finally {
      clearTimeout(late);
    }
  }

  /** False: there is no room for them. */
  #take(events: readonly ServerEvent[]): boolean {
    if (this.isPaused && !this.buffer.hasRoom(events.length)) {
      this.#fallBehind();
      return false;
    }
    this.buffer.append(events.map(({ data }) => data));
    this.#changed();
    return true;
  }

  async #readPast(stop: AbortSignal): Promise<void> {
    const after = this.buffer.lastCursor;
    const query = { ...this.#filter, lines: FIRST_LINES, ...(after !== '' && { after }) };
    const entries = await call('GET /apps/{app}/log', { params: { app: this.#app }, query, signal: stop });
    this.buffer.append(entries);
    this.state.value = 'past';
    this.#changed();
  }

  #changed(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value += 1;
    });
  }
}

function pause(ms: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    stop.addEventListener('abort', over);
  });
}
