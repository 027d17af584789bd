/** Many follow the same log: a batch that they share is put into words once. */
import { isShared } from '../domain/logs/chunk.ts';
import type { LogEntry } from '../domain/logs/entry.ts';
import type { Shape } from './shapes/shape.ts';

type EntriesShape = Shape<readonly LogEntry[]>;
type Words = (batch: readonly LogEntry[], shape: EntriesShape) => Iterable<string>;

/** Of all that is in words at one time: those who keep up are all at the newest of it. */
const KEPT_BYTES = 4 * 1024 * 1024;

interface Kept {
  readonly batch: WeakRef<readonly LogEntry[]>;
  readonly shape: EntriesShape;
  readonly bytes: number;
}

/** In bytes, which every connection sends as they are; one of text would make its own. */
export function wordsOnce(words: Words): (batch: readonly LogEntry[], shape: EntriesShape) => Iterable<Uint8Array> {
  const known = new WeakMap<readonly LogEntry[], Map<EntriesShape, readonly Uint8Array[]>>();
  /** Oldest first. */
  const kept: Kept[] = [];
  let keptBytes = 0;

  function keep(batch: readonly LogEntry[], shape: EntriesShape, all: readonly Uint8Array[]): void {
    const byShape = known.get(batch) ?? new Map<EntriesShape, readonly Uint8Array[]>();
    known.set(batch, byShape.set(shape, all));
    const bytes = all.reduce((sum, { length }) => sum + length, 0);
    kept.push({ batch: new WeakRef(batch), shape, bytes });
    keptBytes += bytes;
    while (keptBytes > KEPT_BYTES) {
      const oldest = kept.shift();
      if (oldest === undefined) return;
      keptBytes -= oldest.bytes;
      const of = oldest.batch.deref();
      if (of !== undefined) known.get(of)?.delete(oldest.shape);
    }
  }

  return (batch, shape) => {
    if (!isShared(batch)) return inBytes(words(batch, shape));
    const already = known.get(batch)?.get(shape);
    if (already !== undefined) return already;
    const all = [...inBytes(words(batch, shape))];
    keep(batch, shape, all);
    return all;
  };
}

function* inBytes(texts: Iterable<string>): Generator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}
