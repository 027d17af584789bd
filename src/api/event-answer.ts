/** Log entries as Server-Sent Events: one each, its id the cursor with which a reader that was cut off goes on. */
import { cursorOf } from '../domain/logs/cursor.ts';
import type { LogEntry } from '../domain/logs/entry.ts';
import type { ResponseStream } from './response-stream.ts';
import type { Shape } from './shapes/shape.ts';
import { wordsOnce } from './words-once.ts';

export const EVENT_STREAM = 'text/event-stream';

/** How long a reader is to wait before it asks again. */
const RETRY_MS = 2_000;
/** Proxies cut connections on which nothing is sent. */
const BEAT_MS = 15_000;
/** Far less than a client may leave unread, so that whoever reads on is never cut off. */
const PIECE_CHARACTERS = 64 * 1024;

export async function answerEvents(
  stream: ResponseStream,
  batches: AsyncIterable<readonly LogEntry[]>,
  shape: Shape<readonly LogEntry[]>,
  signal: AbortSignal,
): Promise<void> {
  stream.start({
    'content-type': `${EVENT_STREAM}; charset=utf-8`,
    'cache-control': 'no-store',
    // nginx would hold events back.
    'x-accel-buffering': 'no',
  });
  stream.write(`retry: ${RETRY_MS}\n\n`);
  const beat = setInterval(() => {
    if (!stream.isBehind) stream.write(':\n\n');
  }, BEAT_MS);
  try {
    for await (const batch of batches) {
      for (const bytes of eventsOf(batch, shape)) {
        if (signal.aborted) return;
        stream.write(bytes);
        await stream.drained();
      }
    }
  } finally {
    clearInterval(beat);
    stream.end();
  }
}

const eventsOf = wordsOnce(piecesOf);

function* piecesOf(batch: readonly LogEntry[], shape: Shape<readonly LogEntry[]>): Generator<string> {
  let piece = '';
  for (const [at, entry] of batch.entries()) {
    const [wire] = shape.toWire([entry]) as unknown[];
    piece += `id: ${cursorOf(entry.seq)}\ndata: ${JSON.stringify(wire)}\n\n`;
    if (piece.length < PIECE_CHARACTERS && at + 1 < batch.length) continue;
    yield piece;
    piece = '';
  }
}
