/** Walks through a tar file, one entry at a time, and writes nothing anywhere: what becomes of an entry is the taker's. */
import type { Parser, ReadEntry } from 'tar';

type TarFault = 'damaged' | 'compressed' | 'unknown_kind';

export class TarError extends Error {
  override readonly name = 'TarError';
  readonly fault: TarFault;
  /** Of the entry that is to blame; '' for none. */
  readonly path: string;

  constructor(fault: TarFault, message: string, path = '') {
    super(message);
    this.fault = fault;
    this.path = path;
  }
}

const MAX_META_BYTES = 64 * 1024;

/**
 * `chunks` are not compressed. `take` is called for one entry after the other and takes exactly its bytes, or leaves them and calls
 * resume(). False: there was no entry. Throws TarError, the signal's reason, and what `chunks` and `take` throw.
 */
export async function readTar(
  chunks: AsyncIterable<Buffer>,
  take: (entry: ReadEntry) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const { Parser } = await import('tar');
  signal.throwIfAborted();
  const stop = new AbortController();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => {});
  const onAbort = (): void => fail(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  // The next entry is announced before the one before it is wholly taken.
  let turn = Promise.resolve();
  let current: ReadEntry | null = null;
  let isEmpty = true;
  const onReadEntry = (entry: ReadEntry): void => {
    isEmpty = false;
    turn = turn.then(() => {
      if (stop.signal.aborted) return;
      current = entry;
      return take(entry);
    });
    turn.catch(fail);
  };
  const parser = new Parser({ strict: true, maxMetaEntrySize: MAX_META_BYTES, noResume: true, onReadEntry });
  let isEnded = false;
  let finish: () => void = () => {};
  const over = new Promise<void>((resolve) => (finish = resolve));
  parser.once('end', finish);
  parser.on('eof', () => (isEnded = true));
  // An archive without entries is no archive to the parser.
  parser.on('error', (error: Error) => {
    if (isEnded && isEmpty) finish();
    else fail(new TarError('damaged', `${error.message}.`));
  });
  parser.on('ignoredEntry', ({ path }: ReadEntry) => {
    fail(new TarError('unknown_kind', 'is of a kind that is not known here', path));
  });
  try {
    signal.throwIfAborted();
    await Promise.race([failed, feed(parser, chunks, stop.signal)]);
    await Promise.race([failed, over]);
    await Promise.race([failed, turn]);
    return !isEmpty;
  } catch (error) {
    stop.abort();
    // Nothing is taken any more when the error is thrown.
    (current as ReadEntry | null)?.destroy();
    await turn.catch(() => {});
    throw error;
  } finally {
    stop.abort();
    signal.removeEventListener('abort', onAbort);
  }
}

async function feed(parser: Parser, chunks: AsyncIterable<Buffer>, stop: AbortSignal): Promise<void> {
  let isFirst = true;
  for await (const chunk of chunks) {
    // The parser would unpack a second layer by itself, without any limit.
    if (isFirst && isCompressed(chunk)) {
      throw new TarError('compressed', 'it is compressed more than once, or not with gzip.');
    }
    isFirst = false;
    if (stop.aborted) return;
    if (!parser.write(chunk)) await drained(parser, stop);
  }
  parser.end();
}

function drained(parser: Parser, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      parser.off('drain', done);
      stop.removeEventListener('abort', done);
      resolve();
    };
    parser.on('drain', done);
    stop.addEventListener('abort', done);
  });
}

function isCompressed(start: Buffer): boolean {
  return ['1f8b', '28b5', '425a', 'fd37', '504b'].includes(start.subarray(0, 2).toString('hex'));
}
