/**
 * Contract: runs units. Implementations live in backends/provisioner/<name>; every one passes
 * backends/provisioner/conformance.ts. Units outlive the process that started them.
 *
 * Order of use: ensure -> ready -> (watch reports exits) -> stop -> remove. A unit that exited may be ensured again.
 */
import type { UnitProcess } from '../routes/router.ts';
import type { Address } from './unit.ts';
import type { Placement } from '../pools/placement.ts';
import type { HealthCheck } from '../apps/app.ts';
import type { LivenessCheck } from './liveness-check.ts';
import type { Say } from '../say.ts';

export interface UnitSpec {
  readonly id: string;
  readonly app: string;
  /** `<app>/<index>`, given to the unit as TANCHO_UNIT. */
  readonly name: string;
  readonly process: string;
  /** Units of one process of a rollout are equal but for id and name: an engine may keep them as a number. Absent: of none. */
  readonly rollout?: string;
  /** The builder's artifact, see Builder. */
  readonly artifact: string;
  /** The same as an image, name and digest, for engines that pull it. Absent: it is on this machine only. */
  readonly image?: string;
  /** It is code that was built, not an image that was deployed. Absent: false. */
  readonly isBuilt?: boolean;
  /**
   * Command line of the process type; run by a shell inside the unit's own sandbox, as the app's user. Of an image it is a list
   * of arguments (lib/argv-text.ts), run without a shell.
   */
  readonly command: string;
  /** The complete environment of the app; the provisioner adds PORT, HOME, TMPDIR, PATH and TANCHO_*. */
  readonly env: Readonly<Record<string, string>>;
  /** True when the process is to listen on PORT. */
  readonly listens: boolean;
  readonly limits: Limits;
  /** Where it runs, by options that this engine has, see `poolOptions`. Absent or null: anywhere. */
  readonly placement?: Placement | null;
  /** What is bound to the app: where it has a network of its own, it reaches these although they are private. Absent: nothing. */
  readonly services?: readonly Address[];
  /** How it is looked at while it serves, for whoever does while control is away. Absent or null: not at all. */
  readonly liveness?: LivenessCheck | null;
  /** Volumes of the app that it has, see volumes/volume-host.ts. Absent: none. */
  readonly volumes?: readonly VolumeMount[];
}

export interface VolumeMount {
  /** Of the volume. */
  readonly name: string;
  /** Absolute, or below the code; in an image below its working directory. */
  readonly path: string;
}

export interface Limits {
  /** Bytes; 0 for none. */
  readonly memoryBytes: number;
  /** Thousandths of a core; 0 for none. */
  readonly cpuMillis: number;
  /** Where the processor is short, relative to the 100 of others; 0 and absent: as they. */
  readonly cpuShare?: number;
  /** Number of processes and threads; 0 for none. */
  readonly processes: number;
  /** Of files that it has written for itself, bytes and number; 0 and absent for none. Kept where the machine can, in any case soon after it holds more. */
  readonly diskBytes?: number;
  readonly files?: number;
}

/** A unit as its engine sees it now. */
export interface SeenUnit {
  readonly id: string;
  /** '' of one that was `unknown` from the start. */
  readonly app: string;
  /** `waiting`: the engine is to start it, or to start it again, and has not done so yet. `unknown`: the engine is away, or hears nothing of it; it goes on or not. */
  readonly state: 'waiting' | 'running' | 'ended' | 'unknown';
  /** The machine that it is on, as the engine calls it; '' where there is none yet. */
  readonly node: string;
  /** Where it is reached when it listens; null where it is not to, or the engine does not know yet. */
  readonly address: Address | null;
  /** Half a sentence for people: why it waits, how it has ended, or why nobody knows; '' for one that runs. */
  readonly reason: string;
  /** Names of volumes that it may read only, for as long as it runs; absent: of none is that known. */
  readonly readOnly?: readonly string[];
}

/** What a unit uses now, with every process of it. */
export interface UnitUsage {
  /** Processor time since it was started. */
  readonly cpuMs: number;
  /** Memory of its own. */
  readonly memoryBytes: number;
}

export interface UnitExited {
  readonly id: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** It went with what it ran on (its pod was taken away, its node is lost), which says nothing of the program. Absent: it ended, or nobody knows. */
  readonly isLost?: true;
}

/** A unit that died while control was away, and was started again. */
export interface Comeback {
  readonly id: string;
  /** Oldest first, with the time when each was noticed: ISO 8601 UTC. */
  readonly exits: readonly (Omit<UnitExited, 'id'> & { readonly at: string })[];
  /** Where it serves now; null where it does not listen, or nobody has seen it ready. */
  readonly address: Address | null;
}

/** An app whose units others reach beside it. */
export interface LinkedApp {
  readonly app: string;
  /** The apps that do; sorted. */
  readonly from: readonly string[];
  /** The units that take their connections in turn. */
  readonly targets: readonly { readonly unit: string; readonly port: number }[];
}

export interface ReadyCheck {
  readonly healthCheck: HealthCheck | null;
  readonly listens: boolean;
  readonly timeoutMs: number;
  /** A process that does not listen is ready when it has stayed alive for so long; of no meaning for others. */
  readonly watchMs: number;
}

export type Probe = { readonly address: Address; readonly timeoutMs: number } & (
  { readonly kind: 'accept' } | { readonly kind: 'http'; readonly healthCheck: HealthCheck }
);

/** `unknown`: it could not be looked at. `detail`: half a sentence for people, `it answered 500 instead of 200`. */
export type ProbeResult =
  { readonly kind: 'well' } | { readonly kind: 'unwell'; readonly detail: string } | { readonly kind: 'unknown' };

/** A piece of a unit's output. */
export interface OutputChunk {
  /** Printed before the lines, and not to be had any more. */
  readonly missing?: MissingOutput;
  readonly lines: readonly OutputLine[];
  /** The next read goes on after it. In the engine's own words, at most 200 characters; good for this unit only, and for every later control. */
  readonly cursor: string;
}

/** Where the output of a unit lies on this machine, for others who read it as output() does. Cursors of it are offsets of bytes, in decimal digits. */
export interface OutputFile {
  readonly path: string;
  readonly from: number;
  /** Printed before that, and not to be had any more. */
  readonly missing?: MissingOutput;
  /** Resolves when nothing will write to the file any more. */
  readonly gone: Promise<unknown>;
}

export interface MissingOutput {
  /** Null: so many that nobody has counted them. */
  readonly lines: number | null;
  readonly bytes: number;
  /** It was more than can be read in time, or giveUp() was called. */
  readonly why: 'too much' | 'no room';
}

export interface OutputLine {
  /** ISO 8601 UTC with milliseconds: when the engine took the line, or, where it does not say, when it was read. Never earlier than that of the line before. */
  readonly at: string;
  readonly text: string;
  /** Parts of one line, which was too long or has had no end for a while: the one before it and this one. Absent: false. */
  readonly continues?: boolean;
  /** The same of this one and the next. */
  readonly goesOn?: boolean;
}

export interface ExecResult {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface ExecRequest {
  readonly unit: UnitSpec;
  /** Command line, run by a shell inside the sandbox. */
  readonly command: string;
  /** Called with raw output, in order; standard output and error are one stream. A promise holds back what follows until it settles. */
  readonly output: (bytes: Uint8Array) => void | Promise<void>;
  readonly signal: AbortSignal;
  /** From when the command runs: what it takes to begin is no time of its own. */
  readonly timeoutMs: number;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ShellRequest {
  /** Beside which unit; its port is known to the shell when it runs. */
  readonly unit: UnitSpec;
  /** Kind of the caller's terminal, such as `xterm`. */
  readonly term: string;
  /** Null: no terminal is wanted, for there is none at the other end either. */
  readonly size: TerminalSize | null;
  /** Called with raw output, in order. */
  readonly output: (bytes: Uint8Array) => void;
  /** Ends the shell and everything it has started. */
  readonly signal: AbortSignal;
}

export interface Shell {
  /** False: there is no terminal behind it, only pipes: no echo, no editing, no size. */
  readonly isTerminal: boolean;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** No more is written. */
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Holds output back, or goes on with it. */
  hold(isHeld: boolean): void;
  /** When every process of it is gone and its last output was given. Never rejects. */
  readonly ended: Promise<ExecResult>;
}

/** What a pool may say of where in the engine its apps run. */
interface PoolOption {
  /** For people, after "give": `a namespace that is there`. */
  readonly description: string;
  /** Of the whole value. */
  readonly pattern: RegExp;
}

/** What an engine can do, as data. */
export interface Supports {
  readonly shell: boolean;
  /** Units that run an image made elsewhere: they have a root file system of their own. */
  readonly images: boolean;
  /** As what it takes artifacts: as directories of this machine, or as images that its own machines pull, see UnitSpec.image. */
  readonly artifacts: 'directories' | 'images';
  /** Where volumes can be mounted. */
  readonly volumes: 'anywhere' | 'below the code' | 'none';
  /** Apps that reach the units of others, see Provisioner.link(). */
  readonly links: boolean;
  /** Who starts a unit again that has ended without stop(): whoever looks after it, by ensure(), or the engine, when it sees fit. */
  readonly restarts: 'platform' | 'engine';
  /** How many platform processes may use it at a time: where units are on the machine of one, others would take them for dead. */
  readonly controls: 'one' | 'several';
  readonly memoryLimit: boolean;
  readonly cpuLimit: boolean;
}

export interface Provisioner {
  readonly name: string;
  readonly supports: Supports;
  /** By name. An engine that is one place has none. */
  readonly poolOptions: Readonly<Record<string, PoolOption>>;
  /** One line for people: which isolation and limits this machine allows. */
  readonly description: string;

  /**
   * Starts the unit unless it runs already, or the engine is about to start it again. Idempotent by `spec.id`; returns the opaque handle to be stored.
   * Throws Failure (`exited`, `no_port`, `internal`) when the process cannot be started at all.
   */
  ensure(spec: UnitSpec): Promise<string>;

  /**
   * Waits until the unit serves; returns its address (null when it does not listen). Who listens and accepts nothing, does not serve
   * yet, where the engine can see that. Of an engine that restarts by itself, one that has ended before is waited for; who ends meanwhile has failed,
   * unless it went with what it ran on: then the next one is waited for.
   * Throws Failure: `exited`, `no_listener`, `wrong_port`, `wrong_interface`, `health_check_failed`, `out_of_memory`, `cancelled`,
   * with the unit's last lines; `exited` with the exit code. Leaves the unit running: the caller decides. `say` gets what people
   * should know about how it serves, such as another port than the expected one.
   */
  ready(id: string, check: ReadyCheck, signal: AbortSignal, say?: Say): Promise<Address | null>;

  /**
   * Looks once whether a unit that serves still does. `accept` fails where nothing listens, and where nobody accepts what comes: a
   * unit that accepts late, but does, is busy and not hung. One that an engine has started again elsewhere than it is looked for is reported as
   * an exit: whoever asks has missed that.
   */
  probe(id: string, probe: Probe, signal: AbortSignal): Promise<ProbeResult>;

  /**
   * TERM, then KILL after `graceMs`; resolves when every process of the unit is gone, and no engine starts it again. Missing or dead: nothing to do. Throws
   * SurvivesKill. `isToComeBack`: it is to be started again, also by whoever looks after the units while control is away.
   */
  stop(id: string, graceMs: number, isToComeBack?: boolean): Promise<void>;

  /** Forgets a stopped unit and removes what it left (its output only once consumed, see consumed()). Idempotent. */
  remove(id: string): Promise<void>;

  /** Every unit this provisioner knows, whatever its state; of an engine that is away, without waiting for it, those it has reported or got by recover(). */
  list(): Promise<SeenUnit[]>;

  /** The first process of a running unit that shares the network of the machine, which everybody may listen in; else null. */
  processOf(id: string): UnitProcess | null;

  /** By id, of all units that run, at a cost that can be had every few seconds; those that end meanwhile are missing. */
  usage(): Promise<ReadonlyMap<string, UnitUsage>>;

  /**
   * Called at boot, and where several controls share the engine also for units of others that are to be looked after here, with the
   * stored handles: finds the units again. Those found running are watched as if started here, those that are already go on;
   * returns the ids that run. Units unknown to the caller are left alone and show up in list(). An engine that needs long to say what there is, or is away,
   * has them taken for running, and reports those that have died when it knows: by exits, or by comebacks().
   */
  recover(handles: ReadonlyMap<string, string>): Promise<Set<string>>;

  /** Resolves when list() has all there is, however long that takes. Absent: it always has. */
  listed?(): Promise<void>;

  /** Those of the units that have come back and were not acknowledged; their exits are reported to no listener. Without comebackNoted() each is answered once. */
  comebacks(ids: ReadonlySet<string>): Promise<Comeback[]>;

  /** Acknowledges the comeback of a unit, once it is stored. Until then comebacks() answers it again, also to the next control. */
  comebackNoted?(id: string): Promise<void>;

  /** Registers the one listener for exits, called exactly once per death, also for deaths during the absence of control. */
  onExit(listener: (exited: UnitExited) => void): void;

  /**
   * Reads the unit's output after a cursor that it has given, null for all of it, without gaps: what was written while control was away
   * is there too.
   * Ends when the unit is gone and all was read, or when the signal fires.
   */
  output(id: string, after: string | null, signal: AbortSignal): AsyncIterable<OutputChunk>;

  /** The file that output() would read after the cursor; null: there is none. Absent: this engine has none of any unit. */
  outputFile?(id: string, after: string | null): OutputFile | null;

  /** The output up to the cursor is stored elsewhere and its disk space may be given back. */
  consumed(id: string, cursor: string): Promise<void>;

  /**
   * For when what is read cannot be stored and the disk is full: gives back the disk space of the oldest output after the cursor, up to
   * about the last megabyte. The next output() from there begins with what is missing. False: nothing was given back.
   */
  giveUp(id: string, after: string | null): Promise<boolean>;

  /**
   * To be called again and again while the disk is nearly full: takes the room now in which units go on printing when nobody else can write any more, for
   * many programs end when they cannot print. Answers those units that had none left since the last time, or have none now: what they printed may be lost.
   */
  holdOutput(): Promise<string[]>;

  /** Last lines of the unit's output, oldest first. Missing unit: empty. */
  lastLines(id: string, count: number): Promise<string[]>;

  /**
   * Runs a command beside the units, in a sandbox equal to the unit's (own process, same code, env and user). Throws Failure `timeout`, also
   * where no place was found for it for long, `cancelled`, `pull_failed`, `internal`.
   */
  exec(request: ExecRequest): Promise<ExecResult>;

  /**
   * Opens a shell beside the units, in the same surroundings as exec(). It ends with this process at the latest.
   * Throws Failure `cancelled`, `internal`.
   */
  shell(request: ShellRequest): Promise<Shell>;

  /**
   * Which apps are reached by others, in place of all that were before: by the name linkHost() gives, which processes find that start from
   * then on, at port 80 as clients reach it, at others as they are. Nothing where `supports.links` is false. Idempotent.
   */
  link(apps: readonly LinkedApp[]): Promise<void>;

  /** All units that requests are led to now, in place of those that were before. Absent: it is of no meaning here. */
  routed?(units: ReadonlySet<string>): void;

  /** What keeps units apart on this machine and is not as it was made, for people; null: nothing. Somebody else may have changed it. */
  networkFault(): Promise<string | null>;
  /** Makes it as it is to be. */
  mendNetworks(): Promise<void>;

  /**
   * What a unit has written beside its code that looks like data meant to stay (databases, uploads), although it goes with the unit:
   * a few paths relative to the code. None of an unknown unit, and where what it writes stays.
   */
  writtenData(id: string): Promise<string[]>;

  /** Stops watching; the units go on. */
  close(): Promise<void>;
}
