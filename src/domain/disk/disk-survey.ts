/** Contract: who holds what on the disk of the platform. Implementation: backends/disk-survey. */

/** `other`: what is the platform's and none of these. */
const HOLDING_KINDS = [
  'code',
  'build cache',
  'repository',
  'unit',
  'volume',
  'toolchain',
  'image cache',
  'backup',
  'database',
  'log',
  'other',
] as const;
export type HoldingKind = (typeof HOLDING_KINDS)[number];

export interface Holding {
  readonly kind: HoldingKind;
  /** Of an app's: its name. Of a unit's: the id. Else what it is called in the platform's directory. */
  readonly name: string;
  /** As the file system counts them, rounded to its blocks. */
  readonly bytes: number;
}

export interface DiskSurvey {
  /** Looks at every file, so it takes seconds where there are many; bounded in time. What vanishes meanwhile is left out. */
  holdings(): Promise<Holding[]>;
  /**
   * What is a unit's own on the disk, in bytes or in files and directories: each as soon as it is counted, in the order of the ids. Bounded in
   * time. Units that have nothing are left out.
   */
  units(ids: readonly string[], what: 'bytes' | 'files'): AsyncIterable<UnitSize>;
  /**
   * How much is in each of these directories: a file that is linked into several counts in the first of them. Those that are not there, or no more,
   * are left out. Rejects when the signal fires before all are counted.
   */
  directories(
    paths: readonly string[],
    what: 'bytes' | 'files',
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, number>>;
}

export interface UnitSize {
  readonly id: string;
  readonly held: number;
}
