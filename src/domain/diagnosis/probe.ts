/** Contract: looks at the machine and its sockets as a visitor would. Implementation: backends/probe. Never throws; bounded in time. */
import type { Address } from '../units/unit.ts';

export interface ProbeRequest {
  /** `host:port` of whoever is asked; `0.0.0.0` and `::` mean this machine. */
  readonly to: string;
  /** Host header. */
  readonly host: string;
  readonly method: string;
  readonly path: string;
  /** Kinds of content; absent: text. */
  readonly accept?: string;
  /** Further ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: a few seconds. */
  readonly timeoutMs?: number;
}

export type ProbeAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The router's own words. */
      readonly isRefusal: boolean;
      /** `text/html`; '' where it does not say. */
      readonly type: string;
      /** Where it redirects to; '' for nowhere. */
      readonly location: string;
      /** The beginning of its body, as far as it came in time. */
      readonly text: string;
    }
  /** Not even a connection, or no whole answer head; `why` completes "it ...". */
  | {
      readonly kind: 'unreachable' | 'silent';
      readonly why: string;
      /** The time was over. */
      readonly isLate: boolean;
    };

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Files that can still be made, of all that can; 0 of 0 where the file system has no such number. */
  readonly freeFiles: number;
  readonly totalFiles: number;
}

export interface MachineProbe {
  /** '' when something accepts connections there; otherwise why not, completing "it ...". */
  connect(address: Address): Promise<string>;
  request(request: ProbeRequest): Promise<ProbeAnswer>;
  /** Whether the name leads to an address; null: it is not known. */
  resolves(host: string): Promise<boolean | null>;
  /** Of the file system the platform keeps its state on; null where it cannot be asked. */
  disk(): Promise<DiskSpace | null>;
}
