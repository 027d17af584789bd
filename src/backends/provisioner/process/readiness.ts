/** Waits until a unit serves, or says as early and as exactly as can be why it will not. */
import { connect } from 'node:net';
import type { HealthCheck } from '../../../domain/apps/app.ts';
import type { ReadyCheck, UnitExited } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import type { FailureCause } from '../../../domain/failure.ts';
import type { Address } from '../../../domain/units/unit.ts';
import { AcceptCheck } from './accept-check.ts';
import { checkOnce } from '../http-check.ts';
import { answersAt, isListenedAt, listenersAlone, listenersOf } from '../../../lib/listeners.ts';
import type { Listener, Listeners } from '../../../lib/listeners.ts';
import { otherPort, SIDE_PORTS } from './own-ports.ts';
import type { Say } from '../../../domain/say.ts';

/** A unit as far as readiness needs it. */
export interface Candidate {
  readonly app: string;
  readonly process: string;
  readonly port: number | null;
  /** Of its own network; null where it shares the machine's. */
  readonly address: string | null;
  /** Port of `address` by which one of its own is reached, once it has been opened for that; absent: each is reached by itself. */
  readonly door?: { readonly port: number; open(port: number): Promise<void> };
  /** Resolves when the unit is dead. */
  readonly gone: Promise<Omit<UnitExited, 'id'>>;
  pids(): Promise<number[]>;
  lastLines(): Promise<string[]>;
  /** TCP ports that its image says it listens on; absent or empty where nothing is known of any. */
  readonly exposed?: readonly number[];
  /** Where its code names a port: `server.js line 3`; null where that is not seen. Absent: nobody looks. */
  whereNamed?(port: number): Promise<string | null>;
}

export interface ReadinessLimits {
  /** How long a listener in the wrong place is given to be joined by the right one. */
  readonly wrongPlaceGraceMs: number;
}

export const DEFAULT_READINESS: ReadinessLimits = { wrongPlaceGraceMs: 4_000 };

const CONNECT_TIMEOUT_MS = 1_000;
const REQUEST_TIMEOUT_MS = 60_000;
const INSPECT_EVERY_MS = 250;
const HEALTH_PAUSE_MS = 250;
const ACCEPT_LOOK_MS = 10;
const ACCEPT_PAUSE_MS = 50;
const LOOPBACKS = ['127.0.0.1', '::1'] as const;
/** So many that wait at one time are looked at as often as can be; where more wait, each is looked at the more rarely. */
const OFTEN = 4;
/** How long a listener on another port than PORT is given to be joined by one on PORT, where any port can be served. */
const OTHER_PORT_GRACE_MS = 1_000;

interface Stop {
  readonly kind: 'exited' | 'cancelled';
  readonly exit?: Omit<UnitExited, 'id'>;
}

/** Where a port of a unit is reached. */
interface Reached {
  readonly address: Address;
  /** The port. */
  readonly own: number;
}

let waiting = 0;

function rarely(ms: number): number {
  return ms * Math.max(1, waiting / OFTEN);
}

export async function waitReady(
  unit: Candidate,
  check: ReadyCheck,
  options: { readonly signal: AbortSignal; readonly limits: ReadinessLimits; readonly say?: Say | undefined },
): Promise<Address | null> {
  waiting += 1;
  try {
    const found = await new Wait(unit, check, options.limits).run(options.signal);
    const { port } = unit;
    if (options.say !== undefined && found !== null && port !== null && found.own !== port) {
      options.say(
        `listens on port ${found.own}${await whereNamed(unit, found.own)}, not on the one in PORT (${port}), and is served there`,
      );
    }
    return found === null ? null : found.address;
  } finally {
    waiting -= 1;
  }
}

class Wait {
  readonly #unit: Candidate;
  readonly #check: ReadyCheck;
  readonly #limits: ReadinessLimits;
  readonly #started = performance.now();
  #stop: Stop | null = null;
  #wake: () => void = () => undefined;
  #wrongSince: number | null = null;
  #listeners: Listeners | null = null;
  #other: { readonly port: number; readonly since: number } | null = null;
  #wrongAnswers = 0;
  #lastDetail = '';

  constructor(unit: Candidate, check: ReadyCheck, limits: ReadinessLimits) {
    this.#unit = unit;
    this.#check = check;
    this.#limits = limits;
  }

  async run(signal: AbortSignal): Promise<Reached | null> {
    const end = new AbortController();
    const onAbort = (): void => this.#end({ kind: 'cancelled' });
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    void this.#unit.gone.then((exit) => {
      this.#end({ kind: 'exited', exit });
      end.abort();
    });
    // A unit found dead already settles its promise in the microtasks before the first attempt.
    await Promise.resolve();
    try {
      if (!this.#check.listens || this.#unit.port === null) return await this.#stayAlive();
      const ended = AbortSignal.any([signal, end.signal]);
      const reached = await this.#untilAccepting(this.#unit.port, ended);
      if (this.#check.healthCheck?.path !== undefined) {
        await this.#untilHealthy(reached.address, this.#check.healthCheck, ended);
      }
      return reached;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #end(stop: Stop): void {
    this.#stop ??= stop;
    this.#wake();
  }

  async #stayAlive(): Promise<null> {
    const until = this.#started + this.#check.watchMs;
    while (performance.now() < until) await this.#pause(until - performance.now());
    await this.#throwIfStopped();
    return null;
  }

  /** Servers that listen before they have loaded the app accept nothing until then, and end when that fails. */
  async #untilAccepting(port: number, signal: AbortSignal): Promise<Reached> {
    for (;;) {
      const reached = await this.#untilListening(port);
      const { address, own } = reached;
      const timeoutMs = Math.max(Math.ceil(this.#started + this.#check.timeoutMs - performance.now()), 1);
      const pauses = { firstLookMs: rarely(ACCEPT_LOOK_MS), longestPauseMs: rarely(ACCEPT_PAUSE_MS) };
      const behind = this.#unit.door === undefined ? null : own;
      const probe = { address, behind, timeoutMs, signal, ...pauses, pids: () => this.#unit.pids() };
      const { kind } = await new AcceptCheck().probe(probe);
      await this.#throwIfStopped();
      if (kind === 'unwell' && performance.now() >= this.#started + this.#check.timeoutMs) {
        throw await this.#failure(
          'no_listener',
          `The process "${this.#unit.process}" listens on port ${own}, but accepted no connection within ${formatSeconds(this.#check.timeoutMs)}.`,
          'What it does before it serves takes too long, or never ends: make it shorter, or raise healthcheck.timeout_seconds in tancho.yaml; then push again.',
        );
      }
      // A listener that is closed by now takes the connections that it has not accepted with it.
      if (kind !== 'unwell' && (await this.#isTaken(address.host, own))) return reached;
    }
  }

  async #untilListening(port: number): Promise<Reached> {
    let inspectAt = this.#started + INSPECT_EVERY_MS;
    for (;;) {
      await this.#throwIfStopped();
      const { host, isTaken } = await this.#ourHost(port);
      if (host !== null) {
        await this.#throwIfStopped();
        return this.#reach(host, port);
      }
      const now = performance.now();
      if (now >= inspectAt) {
        inspectAt = now + rarely(INSPECT_EVERY_MS);
        const pids = await this.#unit.pids();
        this.#listeners = await (this.#unit.address === null ? listenersOf(pids) : listenersAlone(pids));
        const other = await this.#otherAddress(now);
        if (other !== null) return other;
        if (this.#other === null) await this.#judgePlaces(port, now);
      }
      if (now >= this.#started + this.#check.timeoutMs) throw await this.#noListener(port, isTaken);
      await this.#pause(rarely(pauseAfter(now - this.#started)));
    }
  }

  /** Where it is not known whose a listener is, one on the unit's own port is taken for the unit's. */
  async #ourHost(port: number): Promise<{ host: string | null; isTaken: boolean }> {
    const own = this.#unit.address;
    // Nobody else can listen there.
    if (own !== null) return { host: (await this.#isTaken(own, port)) ? own : null, isTaken: false };
    let isTaken = false;
    for (const host of LOOPBACKS) {
      if (!(await accepts(host, port))) continue;
      isTaken = true;
      this.#listeners = await listenersOf(await this.#unit.pids());
      if (this.#listeners === null || answersAt(host, port, this.#listeners)) return { host, isTaken };
    }
    return { host: null, isTaken };
  }

  /** Where it serves instead, in a network of its own, once it has done so for a while. */
  async #otherAddress(now: number): Promise<Reached | null> {
    const { address: host, exposed = [] } = this.#unit;
    const found = host === null || this.#listeners === null ? null : otherPort(this.#listeners, exposed);
    const port = found === this.#unit.port ? null : found;
    if (port !== this.#other?.port) this.#other = port === null ? null : { port, since: now };
    if (host === null || this.#other === null || now - this.#other.since < OTHER_PORT_GRACE_MS) return null;
    const { port: other } = this.#other;
    return (await this.#isTaken(host, other)) ? this.#reach(host, other) : null;
  }

  async #reach(host: string, own: number): Promise<Reached> {
    const { door } = this.#unit;
    await door?.open(own);
    return { address: { host, port: door?.port ?? own }, own };
  }

  /** Whether connections to a port of it are taken. At a door they are before the unit is asked. */
  async #isTaken(host: string, port: number): Promise<boolean> {
    return this.#unit.door === undefined ? accepts(host, port) : isListenedAt(await this.#unit.pids(), port);
  }

  /** Fails once the unit has listened only in wrong places for a while. */
  async #judgePlaces(port: number, now: number): Promise<void> {
    const wrong = this.#wrongPlace(port);
    if (wrong === null) {
      this.#wrongSince = null;
      return;
    }
    this.#wrongSince ??= now;
    if (now - this.#wrongSince >= this.#limits.wrongPlaceGraceMs) throw await this.#misplaced(port, wrong);
  }

  #wrongPlace(port: number): Listener | null {
    const all = (this.#listeners?.own ?? []).filter((listener) => !SIDE_PORTS.has(listener.port));
    const onPort = all.filter((listener) => listener.port === port);
    // In a network of its own one for IPv6 that takes no connection over IPv4 does not begin to later.
    const isOwn = this.#unit.address !== null;
    if (onPort.some(({ reach, family }) => reach !== 'other' && !(isOwn && family === 6))) return null;
    return onPort[0] ?? all[0] ?? null;
  }

  async #misplaced(port: number, wrong: Listener): Promise<Failure> {
    const name = this.#unit.process;
    if (wrong.port === port) {
      const only = wrong.reach === 'other' ? 'on an address from which' : 'for IPv6, over which';
      return this.#failure(
        'wrong_interface',
        `The process "${name}" listens on port ${port}, but only ${only} the platform cannot reach it.`,
        'Listen on 0.0.0.0 (or 127.0.0.1), not on one network card, nor for IPv6 alone.',
      );
    }
    return this.#failure(
      'wrong_port',
      `The process "${name}" listens on port ${wrong.port}${await whereNamed(this.#unit, wrong.port)}, but is to listen on port ${port}.`,
      imageAdvice(this.#unit) ??
        'Listen on the port given in the environment variable PORT ($PORT), not on a fixed one.',
    );
  }

  async #noListener(port: number, isTaken: boolean): Promise<Failure> {
    const wrong = this.#wrongPlace(port);
    if (wrong !== null) return this.#misplaced(port, wrong);
    const waited = `within ${formatSeconds(this.#check.timeoutMs)}`;
    if (isTaken) {
      const text = `The process "${this.#unit.process}" did not get port ${port} ${waited}: a foreign process listens there.`;
      return this.#failure('no_listener', text, 'Try again; another port will be chosen.');
    }
    return this.#failure(
      'no_listener',
      `The process "${this.#unit.process}" runs but did not listen on port ${port} ${waited}.`,
      imageAdvice(this.#unit) ??
        'Make it listen on $PORT; if it needs longer to start, raise healthcheck.timeout_seconds in tancho.yaml; if it serves no requests, do not call it "web" in the Procfile. Then push again.',
    );
  }

  async #untilHealthy(address: Address, check: HealthCheck, signal: AbortSignal): Promise<void> {
    const deadline = this.#started + this.#check.timeoutMs;
    for (;;) {
      await this.#throwIfStopped();
      const timeoutMs = Math.max(Math.min(REQUEST_TIMEOUT_MS, Math.ceil(deadline - performance.now())), 1);
      const result = await checkOnce(address, check, { app: this.#unit.app, timeoutMs, signal });
      await this.#throwIfStopped();
      if (result.kind === 'ok') return;
      this.#lastDetail = result.detail;
      if (result.kind === 'hopeless') break;
      if (result.kind === 'wrong' && (this.#wrongAnswers += 1) > (check.allowedFailures ?? 0)) break;
      if (performance.now() >= deadline) break;
      await this.#pause(HEALTH_PAUSE_MS);
    }
    const method = (check.method ?? 'GET').toUpperCase();
    throw await this.#failure(
      'health_check_failed',
      `The health check ${method} ${check.path ?? '/'} of the process "${this.#unit.process}" failed: ${this.#lastDetail}.`,
      'Correct what the app answers there, or the section healthcheck of tancho.yaml, commit and push again.',
    );
  }

  async #throwIfStopped(): Promise<void> {
    if (this.#stop === null) return;
    if (this.#stop.kind === 'cancelled') {
      throw await this.#failure('cancelled', `Waiting for the process "${this.#unit.process}" was cancelled.`, '');
    }
    throw exitFailure(this.#unit, {
      exit: this.#stop.exit ?? NO_EXIT,
      lines: await this.#unit.lastLines(),
      when: this.#check.listens ? 'before it was ready' : `within ${formatSeconds(this.#check.watchMs)} of its start`,
    });
  }

  async #failure(code: FailureCause, message: string, hint: string): Promise<Failure> {
    return new Failure(code, message, { hint, lines: await this.#unit.lastLines() });
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stop !== null) await this.#throwIfStopped();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(ms, 1));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const DONE =
  'What answers requests has to go on running and listen on $PORT; what is done and ends is not to be called "web" in the Procfile.';
const NO_EXIT = { code: null, signal: null, outOfMemory: false };

async function whereNamed(unit: Candidate, port: number): Promise<string> {
  const where = (await unit.whereNamed?.(port)) ?? null;
  return where === null ? '' : ` (${where})`;
}

/** Null where there is none to give. */
function imageAdvice({ exposed = [], address }: Pick<Candidate, 'exposed' | 'address'>): string | null {
  if (exposed.length === 0) return null;
  const ports = `${exposed.length === 1 ? 'port' : 'ports'} ${exposed.slice(0, 5).join(', ')}`;
  const advice = "make the image's command listen on $PORT, push it and deploy again.";
  if (address !== null) return `The image exposes ${ports}: listen there, or ${advice}`;
  return `The image exposes ${ports}, but units share the machine's network, so each gets a port of its own in the variable PORT: ${advice}`;
}

interface Ended {
  readonly exit: Omit<UnitExited, 'id'>;
  readonly lines: readonly string[];
  readonly when: string;
}

function exitFailure(unit: Candidate, { exit, lines, when }: Ended): Failure {
  const { process } = unit;
  const { code, signal, outOfMemory } = exit;
  if (outOfMemory) {
    const text = `The process "${process}" was killed because it used more memory than it may.`;
    return new Failure('out_of_memory', text, {
      hint: 'Make it use less memory and push again; or give the app a plan with more (tancho plan list, tancho app update --plan <plan>), or ask the operator for more units.memory.',
      lines,
    });
  }
  const how = code !== null ? `with code ${code}` : signal !== null ? `by signal ${signal}` : '(code unknown)';
  const more = lines.length === 0 ? 'It printed nothing; try' : 'Its last lines say more; try';
  const advice = `${more} the command locally with the same environment.`;
  const hint = [code === 0 ? DONE : advice, imageAdvice(unit) ?? ''];
  const text = `The process "${process}" ended ${how} ${when}.`;
  return new Failure('exited', text, { hint: hint.join(' ').trim(), lines, exitCode: code });
}

/** Often at first, when most apps come up, then more rarely. */
function pauseAfter(elapsedMs: number): number {
  if (elapsedMs < 500) return 5;
  return elapsedMs < 5_000 ? 20 : 100;
}

function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 100) / 10;
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}

async function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_TIMEOUT_MS });
    const settle = (answer: boolean) => (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', settle(true));
    socket.once('timeout', settle(false));
    socket.once('error', settle(false));
  });
}
