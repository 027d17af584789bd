/** Output of containers, as the kubelet keeps it. */
import type { Readable } from 'node:stream';
import { KubernetesError, UNREACHABLE } from './kubernetes-error.ts';
import { Lines } from './lines.ts';
import { hasBrokenOff } from './multiplexed.ts';
import type { ApiRequest } from './transport.ts';

type Open = (request: ApiRequest) => Promise<Readable>;

/** Longer lines come in several. */
const MAX_LINE_BYTES = 256 * 1024;

export interface LogOptions {
  readonly container: string;
  /** Goes on until the container ends. */
  readonly follow?: boolean;
  /** It waits behind the others of which this is said. */
  readonly isOneOfMany?: boolean;
  /** The container before the last restart. */
  readonly isPrevious?: boolean;
  /** RFC 3339; the API forgets the fraction of the second, so lines from before may come. */
  readonly since?: string;
  /** The last ones only. */
  readonly lines?: number;
  readonly maxBytes?: number;
}

export interface LogLine {
  /** RFC 3339 in UTC, up to nanoseconds, always with nine digits, so that it sorts; '' of what goes on with a line that was too long. */
  readonly at: string;
  readonly text: string;
}

const nothing = (): void => {};

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) /;

type Part = IteratorResult<readonly LogLine[], undefined>;

const END: Part = { done: true, value: undefined };

/**
 * The lines of a log as they arrive, those that are there at once together. It is asked for with the first next(). Neither generators nor async
 * functions wait: of thousands that wait for a line each would keep several.
 */
export class ContainerLog implements AsyncIterableIterator<readonly LogLine[]> {
  readonly #lines = new Lines(MAX_LINE_BYTES);
  #open: (() => Promise<Readable>) | null;
  #stream: Readable | null = null;
  #isClosed = false;
  #waiting: PromiseWithResolvers<Part> | null = null;

  constructor(open: () => Promise<Readable>) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Not to be called before the last call has resolved. Rejects with KubernetesError. */
  next(): Promise<Part> {
    const waiting = Promise.withResolvers<Part>();
    this.#waiting = waiting;
    if (this.#stream !== null) this.#look(this.#stream);
    else this.#begin().catch((error: unknown) => this.#fail(error));
    return waiting.promise;
  }

  async return(): Promise<Part> {
    this.#stream?.destroy();
    return END;
  }

  async #begin(): Promise<void> {
    const stream = await this.#open?.();
    if (stream === undefined) throw new Error('it was left');
    this.#open = null;
    this.#stream = stream;
    const look = (): void => this.#look(stream);
    // Who waits looks at `errored`; what breaks when nobody does is no news.
    stream.on('readable', look);
    if (stream.listenerCount('error') === 0) stream.on('error', nothing);
    stream.on('close', () => {
      this.#isClosed = true;
      look();
    });
    // It may have been lost with the packet that had the head of the answer.
    this.#isClosed = stream.destroyed;
    look();
  }

  /** Whoever waits is given what is there. */
  #look(stream: Readable): void {
    if (this.#waiting === null) return;
    try {
      const lines = this.#read(stream);
      if (lines.length === 0 && !this.#isClosed) return;
      const value = lines.map((line) => stamped(line.toString('utf8')));
      this.#waiting.resolve(value.length > 0 ? { done: false, value } : END);
      this.#waiting = null;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#stream?.destroy();
    this.#waiting?.reject(error instanceof KubernetesError ? error : brokenOff(error));
    this.#waiting = null;
  }

  #read(stream: Readable): Buffer[] {
    const lines: Buffer[] = [];
    if (!stream.destroyed) {
      for (let chunk: unknown = stream.read(); chunk instanceof Buffer; chunk = stream.read())
        for (const line of this.#lines.take(chunk)) lines.push(line);
    }
    if (lines.length > 0 || !this.#isClosed) return lines;
    if (stream.errored !== null) throw stream.errored;
    if (!stream.readableEnded || hasBrokenOff(stream)) throw new Error('the connection was lost');
    return this.#lines.rest();
  }
}

export function containerLog(open: Open, pod: string, options: LogOptions, signal: AbortSignal): ContainerLog {
  const { container, follow = false, isPrevious = false, since, lines, maxBytes } = options;
  const query = {
    container,
    timestamps: 'true',
    follow: follow ? 'true' : undefined,
    previous: isPrevious ? 'true' : undefined,
    sinceTime: since?.replace(/\.\d+/, ''),
    tailLines: lines?.toString(),
    limitBytes: maxBytes?.toString(),
  };
  // The kubelet sends the head of what is followed with the first line.
  return new ContainerLog(() => open({ method: 'GET', path: `${pod}/log`, query, isSilentAtFirst: follow, signal }));
}

function brokenOff(cause: unknown): KubernetesError {
  return new KubernetesError(0, UNREACHABLE, `The output of a container broke off: ${String(cause)}`, { cause });
}

function stamped(line: string): LogLine {
  const found = STAMP.exec(line);
  if (found === null) return { at: '', text: line };
  const [whole, second = '', fraction = '', zone = 'Z'] = found;
  const utc = zone === 'Z' ? second : new Date(`${second}${zone}`).toISOString().slice(0, 19);
  return { at: `${utc}.${fraction.padEnd(9, '0')}Z`, text: line.slice(whole.length) };
}
