/** Contract: looks at what the platform itself runs on. Implementation: backends/host. Never throws; bounded in time. */

export interface InstalledProgram {
  readonly name: string;
  /** '' where it does not say. */
  readonly version: string;
}

export interface PlatformProcess {
  /** What it is for: `control`, `edge`, `edge worker`, `keeper`. */
  readonly part: string;
  readonly pid: number;
  /** Resident in memory, with what it shares with others. */
  readonly memoryBytes: number;
  /** Since it was started. */
  readonly cpuMs: number;
  readonly startedAt: string;
}

export interface MachineNow {
  /** 0 where it is not known. */
  readonly memoryTotalBytes: number;
  /** What could be given to programs without swapping. */
  readonly memoryAvailableBytes: number;
  readonly processors: number;
  /** Processes that ran or waited for a processor, on average over 1, 5 and 15 minutes. */
  readonly load: readonly [number, number, number];
}

export interface Host {
  /** What the platform is made with, the kernel included. */
  programs(): Promise<readonly InstalledProgram[]>;
  /** Those of the platform, control first; none of an app. */
  processes(): Promise<readonly PlatformProcess[]>;
  machine(): MachineNow;
}
