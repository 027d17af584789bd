/** What `tancho server` needs of the server: main.ts provides it, so that the command line never loads server code itself. */
export interface RunningServer {
  readonly ready: { readonly apiUrl: string; readonly edgeAddress: string; readonly sshAddress: string };
  /** On the first start only. */
  readonly firstAdmin: { readonly email: string; readonly password: string } | null;
  /** True when the operator has chosen the first admin's password: it is not printed then. */
  readonly passwordGiven: boolean;
  /** Apps answer at `<app>.<domain>`. */
  readonly domain: string;
  /** How apps are kept apart and limited on this machine, one line. */
  readonly isolation: string;
  stop(how: 'all' | 'leave-units'): Promise<void>;
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface ServerDoor {
  /** Resolves once every door answers. */
  start(): Promise<RunningServer>;
  /** Calls back for every such signal from now on. */
  onSignal(listener: (signal: StopSignal) => void): void;
  /** Ends this process at once. */
  exit(code: number): void;
}
