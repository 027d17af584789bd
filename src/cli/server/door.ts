/** What `tancho server` needs of the server: main.ts provides it, so that the command line never loads server code itself. */
export interface RunningServer {
  readonly ready: {
    readonly apiUrl: string;
    /** Null: apps answer at edges elsewhere alone. */
    readonly edgeAddress: string | null;
    readonly sshAddress: string;
  };
  /** On the first start only. */
  readonly firstAdmin: { readonly email: string; readonly password: string } | null;
  /** True when the operator has chosen the first admin's password: it is not printed then. */
  readonly passwordGiven: boolean;
  /** Apps answer at `<app>.<domain>`. */
  readonly domain: string;
  /** How apps are kept apart and limited on this machine, one line. */
  readonly isolation: string;
  /** Why the server itself has asked for its end, by SIGTERM; null: somebody else has. */
  whyEnding(): string | null;
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
  /** Begins this very process anew, as it was started, or as another command; returns where the system has no means for this. */
  again(args?: readonly string[]): void;
  /** Resolves once it serves by what it knows; it follows whoever of the servers answers. */
  startEdge(options: EdgeAsked): Promise<RunningEdge>;
  /** Puts the program, as it is installed here, on an image, and pushes it; its name with its digest. */
  pushProgram(image: ProgramImage): Promise<string>;
  /** Whether the state can be moved, `isServing`: from under the server that runs. Throws what says why not. */
  checkMove(move: MovedState, isServing: boolean): Promise<void>;
  /** While the server serves: brings what never changes any more. Answers how many rows. */
  bringAhead(ahead: Ahead): Promise<number>;
  /** Moves the state between the files of a home and a PostgreSQL while no server is at work: all or nothing, and in force when it resolves. */
  moveState(move: StateMove): Promise<CopiedTable[]>;
}

interface EdgeAsked {
  readonly servers: readonly string[];
  readonly token: string;
  readonly name: string;
}

interface RunningEdge {
  readonly listen: string;
  readonly tlsListen: string | null;
  /** Resolves when it was stopped, or another one has taken over and what was begun here is finished. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Of them were there already. */
  readonly ahead?: number;
}

interface MovedState {
  readonly home: string;
  /** postgres://... of the one of the two that is no file. */
  readonly url: string;
  readonly to: 'postgres' | 'sqlite';
}

interface Ahead extends MovedState {
  readonly onRows: (rows: number) => void;
}

interface StateMove extends MovedState {
  /** bringAhead() was called just before. */
  readonly isAhead: boolean;
  readonly onTable: (copied: CopiedTable) => void;
}

interface ProgramImage {
  readonly host: string;
  readonly repository: string;
  readonly tag: string;
  /** Name of the image that it is put on. */
  readonly base: string;
  readonly login: { readonly user: string; readonly password: string } | null;
  /** The login may be sent without TLS. */
  readonly isInsecure: boolean;
  /** Directory with package.json, dist/ and node_modules/. */
  readonly program: string;
  readonly say: (line: string) => void;
}
