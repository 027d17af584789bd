/** Many follow the same log: a batch that they share is put into words once. */
import type { LogEntry } from '../domain/logs/entry.ts';
import type { Shape } from './shapes/shape.ts';

type EntriesShape = Shape<readonly LogEntry[]>;
type Words = (batch: readonly LogEntry[], shape: EntriesShape) => Iterable<string>;

/** A longer one is the own of one reader, and is put into words piece by piece. */
const SHARED_ENTRIES = 1_000;

export function wordsOnce(words: Words): Words {
  const known = new WeakMap<readonly LogEntry[], Map<EntriesShape, readonly string[]>>();
  return (batch, shape) => {
    if (batch.length > SHARED_ENTRIES) return words(batch, shape);
    const byShape = known.get(batch) ?? new Map<EntriesShape, readonly string[]>();
    known.set(batch, byShape);
    const all = byShape.get(shape) ?? [...words(batch, shape)];
    byShape.set(shape, all);
    return all;
  };
}
