import type { Writable } from 'node:stream';

/** Resolves when the stream takes more, or never will. Leaves no listener behind. */
export function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
    if (stream.destroyed || !stream.writableNeedDrain) done();
  });
}
