/** Log entries for as long as the client listens: each batch is a JSON array on a line of its own. */
import type { LogEntry } from '../domain/logs/entry.ts';
import type { ResponseStream } from './response-stream.ts';
import type { Shape } from './shapes/shape.ts';

export async function answerFollow(
  stream: ResponseStream,
  batches: AsyncIterable<readonly LogEntry[]>,
  shape: Shape<readonly LogEntry[]>,
  signal: AbortSignal,
): Promise<void> {
  stream.start({ 'content-type': 'application/json; charset=utf-8' });
  try {
    for await (const batch of batches) {
      if (signal.aborted) break;
      stream.write(`${JSON.stringify(shape.toWire(batch))}\n`);
      await stream.drained();
    }
  } finally {
    stream.end();
  }
}
