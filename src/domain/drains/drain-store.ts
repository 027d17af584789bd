import type { Drain, DrainTarget } from './drain.ts';

export interface DrainReader {
  /** Sorted by app and when they were made. */
  drains(): Promise<Drain[]>;
  drain(id: string): Promise<Drain | null>;
}

export interface DrainWriter {
  insertDrain(drain: Drain): Promise<void>;
  /** Missing: nothing to do. */
  setDrainTarget(id: string, target: DrainTarget): Promise<void>;
  deleteDrain(id: string): Promise<void>;
  deleteDrainsOf(app: string): Promise<void>;
}
