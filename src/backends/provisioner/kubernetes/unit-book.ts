/** Pure: the units of a Deployment, as it says itself, so that every control and every later one knows them. */
import { isRecord } from '../../../lib/is-record.ts';
import type { Deployment } from '../../../kubernetes/objects.ts';
import { ANNOTATIONS } from './labels.ts';

export interface UnitEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
}

export interface BookedUnit {
  /** Null: it is to run. */
  readonly end: UnitEnd | null;
  /** Name of the pod that it has, or had last; '': none yet. */
  readonly pod: string;
}

export type UnitBook = ReadonlyMap<string, BookedUnit>;

/** Of the objects that are known at all times, each is asked for again and again. */
const read = new WeakMap<Deployment['metadata'], UnitBook>();

export function bookOf({ metadata }: Pick<Deployment, 'metadata'>): UnitBook {
  const book = read.get(metadata) ?? readBook(metadata);
  read.set(metadata, book);
  return book;
}

function readBook(metadata: Deployment['metadata']): UnitBook {
  const text = metadata.annotations?.[ANNOTATIONS.units] ?? '{}';
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isRecord(parsed)) return new Map();
    return new Map(Object.entries(parsed).map(([id, unit]) => [id, bookedOf(unit)]));
  } catch {
    return new Map();
  }
}

export function bookText(book: UnitBook): string {
  return JSON.stringify(Object.fromEntries(book));
}

export function runningIds(book: UnitBook): string[] {
  return [...book].filter(([, { end }]) => end === null).map(([id]) => id);
}

function bookedOf(unit: unknown): BookedUnit {
  if (!isRecord(unit)) return { end: null, pod: '' };
  return { end: endOf(unit['end']), pod: typeof unit['pod'] === 'string' ? unit['pod'] : '' };
}

function endOf(value: unknown): UnitEnd | null {
  if (!isRecord(value)) return null;
  const { code, signal, outOfMemory } = value;
  return {
    code: typeof code === 'number' ? code : null,
    signal: typeof signal === 'string' ? signal : null,
    outOfMemory: outOfMemory === true,
  };
}
