/** Parts of a build that an app can do without: where one fails, people are warned, and the build goes on. */
import { Failure } from '../../../../domain/failure.ts';
import type { RunningBuild } from '../running-build.ts';

export class OptionalParts {
  readonly #build: Pick<RunningBuild, 'output' | 'signal'>;
  readonly #failed = new Set<string>();

  constructor(build: Pick<RunningBuild, 'output' | 'signal'>) {
    this.#build = build;
  }

  /** What is not optional fails as it does; nothing is run of a part that has failed. */
  async run({ optional }: { readonly optional?: string }, act: () => Promise<void>): Promise<void> {
    if (optional === undefined) return act();
    if (this.#failed.has(optional)) return;
    try {
      await act();
    } catch (error) {
      this.#build.signal.throwIfAborted();
      if (!(error instanceof Failure) || error.code !== 'build_failed') throw error;
      this.#failed.add(optional);
      this.#build.output.say(`Warning: the app goes on without its ${optional}. ${error.message} ${error.hint}`);
    }
  }
}
