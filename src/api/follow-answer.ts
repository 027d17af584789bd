/** Log entries for as long as the client listens: JSON arrays, each on a line of its own. */
import type { LogEntry } from '../domain/logs/entry.ts';
import type { ResponseStream } from './response-stream.ts';
import type { Shape } from './shapes/shape.ts';
import { wordsOnce } from './words-once.ts';

/** Of messages in one array: far less than a client may leave unread, so that whoever reads on is never cut off. */
const PIECE_CHARACTERS = 64 * 1024;

export async function answerFollow(
  stream: ResponseStream,
  batches: AsyncIterable<readonly LogEntry[]>,
  shape: Shape<readonly LogEntry[]>,
  signal: AbortSignal,
): Promise<void> {
  stream.start({ 'content-type': 'application/json; charset=utf-8' });
  try {
    for await (const batch of batches) {
      for (const bytes of wordsOf(batch, shape)) {
        if (signal.aborted) return;
        stream.write(bytes);
        await stream.drained();
      }
    }
  } finally {
    stream.end();
  }
}

/** Each is an array of entries, on a line of its own. */
export const wordsOf = wordsOnce(function* (batch, shape) {
  for (const piece of piecesOf(batch)) yield `${JSON.stringify(shape.toWire(piece))}\n`;
});

/** A batch may be all that is kept of a log. An empty one is passed on: it says that nothing was there. */
function* piecesOf(batch: readonly LogEntry[]): Generator<readonly LogEntry[]> {
  let from = 0;
  let size = 0;
  for (const [at, { message }] of batch.entries()) {
    size += message.length;
    if (size < PIECE_CHARACTERS) continue;
    yield batch.slice(from, at + 1);
    from = at + 1;
    size = 0;
  }
  if (from < batch.length || batch.length === 0) yield batch.slice(from);
}
