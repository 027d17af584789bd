/** When a unit serves, as seen from control, and why it does not. */
import { connect } from 'node:net';
import { Failure, type FailureCause } from '../../../domain/failure.ts';
import type { ProbeResult, ReadyCheck } from '../../../domain/units/provisioner.ts';
import { type Address, describeExit } from '../../../domain/units/unit.ts';
import { deadline } from '../../../lib/deadline.ts';
import type { Pod } from '../../../kubernetes/objects.ts';
import { checkOnce } from '../http-check.ts';
import { PORT } from './desired.ts';
import { isOver, isUnreachable, lifeOf, PLACE_MS, type PodLife, PULL_HINT, Tries } from './pod-state.ts';
import type { UnitPods } from './unit-pods.ts';

const FIRST_LOOK_MS = 50;
const LONGEST_LOOK_MS = 1_000;
const CONNECT_MS = 2_000;
const REQUEST_MS = 10_000;

interface ReadyOptions {
  readonly pods: UnitPods;
  readonly id: string;
  readonly check: ReadyCheck;
  readonly signal: AbortSignal;
  readonly lastLines: () => Promise<string[]>;
}

/** What it is waited for has ended, or there is none. */
export async function waitUntilReady(options: ReadyOptions): Promise<Address | null> {
  const { signal, pods, id } = options;
  const waiting = new Waiting(options);
  let lookMs = FIRST_LOOK_MS;
  for (;;) {
    const found = await waiting.look();
    if (found !== 'not yet') return found;
    const pause = deadline(lookMs, signal);
    await pods.changed(id, pause.signal);
    pause.clear();
    lookMs = Math.min(LONGEST_LOOK_MS, lookMs * 2);
  }
}

class Waiting {
  readonly #options: ReadyOptions;
  #begun = performance.now();
  /** Of the pod that is looked at: the deaths before are over. */
  #pod: { readonly uid: string; readonly deaths: number; readonly tries: Tries } | null = null;
  #runningSince: number | null = null;
  #wrongAnswers = 0;
  #hasLooked = false;

  constructor(options: ReadyOptions) {
    this.#options = options;
  }

  async look(): Promise<Address | null | 'not yet'> {
    const { pods, id, check, signal } = this.#options;
    if (signal.aborted)
      throw await this.#failure('cancelled', 'Waiting for the unit was cancelled.', 'Start it again.');
    const booked = pods.bookOf(id);
    if (booked === undefined || booked.end !== null) throw await this.#notThere(booked?.end ?? null);
    const pod = pods.podOf(id);
    const isGone = pod === null || isOver(pod) || isUnreachable(pod);
    const life = isGone ? null : lifeOf(pod);
    // Whatever takes its place is to be placed anew.
    if (isGone && this.#runningSince !== null) [this.#begun, this.#runningSince] = [performance.now(), null];
    if (pod !== null && life !== null) {
      await this.#judge(pod, life);
      if (life.isRunning) {
        this.#runningSince ??= performance.now();
        if (check.listens && (await this.#serves(pod))) return { host: pod.status?.podIP ?? '', port: PORT };
      }
    }
    this.#hasLooked = true;
    return this.#timeLeft(life);
  }

  /** A death from now on is a failure; those of a pod that is new since are all from now on. */
  async #judge({ metadata: { uid = '' } }: Pod, life: PodLife): Promise<void> {
    if (this.#pod?.uid !== uid) this.#pod = { uid, deaths: this.#hasLooked ? 0 : life.deaths, tries: new Tries() };
    const { lastEnd, deaths, reason } = life;
    if (deaths > this.#pod.deaths && lastEnd !== null) {
      if (lastEnd.outOfMemory) {
        throw await this.#failure(
          'out_of_memory',
          'The process used more memory than it may.',
          'Give the app a larger plan, or make it use less memory.',
        );
      }
      throw await this.#failure(
        'exited',
        `The process ${describeExit(lastEnd)} before it was ready.`,
        'Look at its last lines.',
        lastEnd.code,
      );
    }
    if (this.#pod.tries.isGivenUp(life))
      throw await this.#failure('pull_failed', `The unit cannot be started: ${reason}.`, PULL_HINT);
  }

  async #serves(pod: Pod): Promise<boolean> {
    const { pods, id, check, signal } = this.#options;
    const host = pod.status?.podIP ?? '';
    if (host === '') return false;
    const address = { host, port: PORT };
    if ((await connectProblem(address, CONNECT_MS, signal)) !== null) return false;
    if (check.healthCheck?.path !== undefined) {
      const limits = { app: pods.appOf(id), timeoutMs: REQUEST_MS, signal };
      const result = await checkOnce(address, check.healthCheck, limits);
      if (result.kind === 'wrong' || result.kind === 'hopeless') this.#wrongAnswers += 1;
      if (this.#wrongAnswers > (check.healthCheck.allowedFailures ?? 0) && result.kind !== 'ok') {
        const { method = 'GET', path } = check.healthCheck;
        throw await this.#failure(
          'health_check_failed',
          `The health check ${method.toUpperCase()} ${path} failed: ${result.detail}.`,
          'Correct what the app answers there, or the section healthcheck of tancho.yaml, commit and push again.',
        );
      }
      if (result.kind !== 'ok') return false;
    }
    const now = pods.podOf(id);
    return now !== null && now.metadata.uid === pod.metadata.uid && lifeOf(now).deaths === lifeOf(pod).deaths;
  }

  async #timeLeft(life: PodLife | null): Promise<null | 'not yet'> {
    const { check } = this.#options;
    const now = performance.now();
    if (this.#runningSince === null) {
      if (now - this.#begun < PLACE_MS) return 'not yet';
      const reason = life === null || life.reason === '' ? '' : `: ${life.reason}`;
      throw await this.#failure(
        'timeout',
        `The unit was not started within ${PLACE_MS / 60_000} minutes${reason}.`,
        'Ask an operator what the cluster lacks.',
      );
    }
    if (now - this.#runningSince < (check.listens ? check.timeoutMs : check.watchMs) || life?.isRunning !== true)
      return 'not yet';
    if (!check.listens) return null;
    throw await this.#failure(
      'no_listener',
      `The process runs, but did not listen on port ${PORT} within ${Math.round(check.timeoutMs / 1000)} seconds.`,
      'Make it listen on $PORT, at all addresses (0.0.0.0); if it needs longer to start, raise healthcheck.timeout_seconds in tancho.yaml. Then push again.',
    );
  }

  async #notThere(end: Parameters<typeof describeExit>[0] | null): Promise<Failure> {
    const how = end === null ? 'is not there' : describeExit(end);
    return this.#failure('exited', `The unit ${how}.`, 'Start it again.', end?.code ?? null);
  }

  async #failure(code: FailureCause, message: string, hint: string, exitCode: number | null = null): Promise<Failure> {
    return new Failure(code, message, { hint, lines: await this.#options.lastLines(), exitCode });
  }
}

export async function acceptsAt(address: Address, timeoutMs: number, signal: AbortSignal): Promise<ProbeResult> {
  const problem = await connectProblem(address, timeoutMs, signal);
  if (problem === null) return { kind: 'well' };
  return signal.aborted ? { kind: 'unknown' } : { kind: 'unwell', detail: `it takes no connections (${problem})` };
}

function connectProblem(address: Address, timeoutMs: number, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...address });
    const settle = (problem: string | null): void => {
      signal.removeEventListener('abort', leave);
      socket.destroy();
      resolve(problem);
    };
    const leave = (): void => settle('cancelled');
    socket.setTimeout(timeoutMs, () => settle('no answer'));
    socket.once('connect', () => settle(null));
    socket.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message));
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  });
}
