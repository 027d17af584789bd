/**
 * What writes on the disk of the platform beside units: builds, commands and shells, for as long as they run. Whoever runs one notes it here; where the
 * disk runs short, who watches it may end one.
 */
import { Failure } from '../failure.ts';

export interface DiskWriter {
  readonly app: string;
  readonly what: 'build' | 'command';
  /** All that it has written by itself is in these; what was there before is not. */
  directories(): Promise<readonly string[]>;
}

interface RunningWriter extends DiskWriter {
  /** `reason`: for people, one sentence. */
  end(reason: string): void;
  /** How long ago that was called; null: not yet. It stays until what it has written is removed. */
  endedMs(): number | null;
}

const HINT = 'Ask the operator to make room (tancho server disk shows who holds what), then try again.';

export class DiskWriters {
  readonly #running = new Set<RunningWriter>();

  list(): readonly RunningWriter[] {
    return [...this.#running];
  }

  /** `work` is to end when its signal fires, and to remove what it has written. Throws Failure `disk_low` where it was ended to make room. */
  async during<T>(writer: DiskWriter, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    let endedAt: number | null = null;
    const running: RunningWriter = {
      ...writer,
      end(reason) {
        endedAt ??= performance.now();
        stop.abort(new Failure('disk_low', reason, { hint: HINT }));
      },
      endedMs: () => (endedAt === null ? null : performance.now() - endedAt),
    };
    this.#running.add(running);
    try {
      return await work(AbortSignal.any([signal, stop.signal]));
    } catch (error) {
      throw stop.signal.aborted ? stop.signal.reason : error;
    } finally {
      this.#running.delete(running);
    }
  }
}
