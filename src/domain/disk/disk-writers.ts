/**
 * What writes on the disk of the platform beside units: builds, commands and shells, for as long as they run. Whoever runs one notes it here; where the
 * disk runs short, who watches it may end one.
 */
import { setTimeout } from 'node:timers/promises';
import { withDeadline } from '../../lib/deadline.ts';
import { Failure } from '../failure.ts';
import type { RoomKind } from './count-schedule.ts';
import type { DiskSurvey } from './disk-survey.ts';

export interface DiskWriter {
  readonly app: string;
  readonly what: 'build' | 'command';
  /** Directories that may hold something when it begins: it has written what they have grown by since then, a command but for its first moments. */
  readonly shared?: readonly string[];
  /** Where all else is that it has written. It writes nothing in `linked`, but files of these are linked into its own. */
  directories(): Promise<{ readonly own: readonly string[]; readonly linked?: readonly string[] }>;
}

export interface RunningWriter extends Pick<DiskWriter, 'app' | 'what'> {
  /** Bytes, or files and directories. Rejects where they cannot be counted before the signal fires. */
  written(kind: RoomKind, signal: AbortSignal): Promise<number>;
  /** `reason`: for people, one sentence. */
  end(reason: string): void;
  /** How long ago that was called; null: not yet. It stays until what it has written is removed. */
  endedMs(): number | null;
}

interface Before extends Record<RoomKind, number | null> {
  /** None until they are counted. */
  shared: readonly string[];
}

const HINT = 'Ask the operator to make room (tancho server disk shows who holds what), then try again.';
/** Looks at units run a command each, as often as every second: what is over sooner has written nothing that is worth two counts. */
const SOON_MS = 2_000;
/** Until it is known what was there before: on a slow disk, where there is much of it. */
const BEFORE_MS = 60_000;
const NOTHING: Pick<DiskSurvey, 'directories'> = { directories: async () => new Map() };

export class DiskWriters {
  readonly #survey: Pick<DiskSurvey, 'directories'>;
  readonly #running = new Set<RunningWriter>();

  /** Without a survey, none has written anything. */
  constructor(survey: Pick<DiskSurvey, 'directories'> = NOTHING) {
    this.#survey = survey;
  }

  list(): readonly RunningWriter[] {
    return [...this.#running];
  }

  /** `work` is to end when its signal fires, and to remove what it has written. Throws Failure `disk_low` where it was ended to make room. */
  async during<T>(writer: DiskWriter, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const [stop, over] = [new AbortController(), new AbortController()];
    let endedAt: number | null = null;
    const before = this.#before(writer, over.signal);
    const running: RunningWriter = {
      app: writer.app,
      what: writer.what,
      written: (kind, limit) => this.#written(writer, before, kind, limit),
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
      over.abort();
      this.#running.delete(running);
    }
  }

  /** What was in the shared directories, counted beside the work; null: not known yet, or never. */
  #before({ what, shared = [] }: DiskWriter, over: AbortSignal): Before {
    const before: Before = { shared: [], bytes: 0, files: 0 };
    if (shared.length === 0) return before;
    const counting = withDeadline(BEFORE_MS, over, async (signal) => {
      if (what === 'command') await setTimeout(SOON_MS, undefined, { signal });
      Object.assign(before, { shared, bytes: null, files: null } satisfies Before);
      for (const kind of ['bytes', 'files'] as const)
        before[kind] = sumOf(shared, await this.#survey.directories(shared, kind, signal));
    });
    counting.catch(() => undefined);
    return before;
  }

  async #written(writer: DiskWriter, before: Before, kind: RoomKind, signal: AbortSignal): Promise<number> {
    const { shared } = before;
    const { own, linked = [] } = await writer.directories();
    // In this order: a file counts where it is seen first.
    const sizes = await this.#survey.directories([...shared, ...linked, ...own], kind, signal);
    const known = shared.length === 0 ? 0 : before[kind];
    if (known === null) throw new Error('It is not known what was there when it began.');
    const grown = Math.max(0, sumOf(shared, sizes) - known);
    return grown + sumOf(own, sizes);
  }
}

function sumOf(paths: readonly string[], sizes: ReadonlyMap<string, number>): number {
  return paths.reduce((sum, path) => sum + (sizes.get(path) ?? 0), 0);
}
