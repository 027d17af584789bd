/**
 * Who writes to which repository at the moment. A git process that is killed leaves locks that refuse every later push, and half a
 * push: both are cleared away as soon as nobody else is at work there.
 */
import { bestEffort, type Logger } from '../../../lib/logger.ts';
import { clearRepository } from './layout.ts';

interface Work {
  writers: number;
  /** Somebody was cut off. */
  isDirty: boolean;
  /** Resolves when the clearing away, if any, is over. */
  cleared: Promise<void>;
}

export class Writers {
  readonly #logger: Logger;
  readonly #at = new Map<string, Work>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The returned function is to be called at the end, once; `cutOff` when the end was not git's own. It resolves when the repository is in order. */
  async enter(repository: string): Promise<(cutOff: boolean) => Promise<void>> {
    const work = this.#at.get(repository) ?? { writers: 0, isDirty: false, cleared: Promise.resolve() };
    this.#at.set(repository, work);
    work.writers += 1;
    await work.cleared;
    return async (cutOff) => {
      work.writers -= 1;
      work.isDirty ||= cutOff;
      if (work.writers > 0) return;
      if (work.isDirty) {
        work.isDirty = false;
        work.cleared = bestEffort(this.#logger, 'clearing up a repository', () => clearRepository(repository));
        await work.cleared;
      }
      if (work.writers === 0) this.#at.delete(repository);
    };
  }

  /** What throws was cut off. */
  async during<T>(repository: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(repository);
    let isDone = false;
    try {
      const result = await work();
      isDone = true;
      return result;
    } finally {
      await leave(!isDone);
    }
  }
}
