/** Reads a command's output no faster than it is taken, so that nobody has to keep what a slow reader has not read. */
import type { Readable } from 'node:stream';
import type { ExecRequest } from '../../../domain/units/provisioner.ts';

/** For output still on its way after everything that could write it is dead. */
const DRAIN_MS = 2_000;

export class PacedOutput {
  readonly #sources: readonly Readable[];
  readonly #output: ExecRequest['output'];
  #held = 0;

  constructor(sources: readonly (Readable | null)[], output: ExecRequest['output']) {
    this.#sources = sources.filter((source) => source !== null);
    this.#output = output;
    for (const source of this.#sources) source.on('data', (bytes: Buffer) => this.#pass(bytes));
  }

  /** Resolves with what has still come, or when nothing has moved for a while, unless the reader is why; `isGivenUp` ends that, too. */
  async drained(closed: Promise<void>, isGivenUp: () => boolean): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setInterval(() => {
        if (this.#held === 0 || isGivenUp()) resolve();
      }, DRAIN_MS);
    });
    await Promise.race([closed, late]);
    clearInterval(timer);
  }

  #pass(bytes: Buffer): void {
    const taken = this.#output(bytes);
    if (!(taken instanceof Promise)) return;
    this.#held += 1;
    for (const source of this.#sources) source.pause();
    const goOn = (): void => {
      this.#held -= 1;
      if (this.#held === 0) for (const source of this.#sources) source.resume();
    };
    taken.then(goOn, goOn);
  }
}
