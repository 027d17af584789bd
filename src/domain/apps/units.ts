/**
 * The life of single units: start one until it serves, retire one until nothing of it is left. Knows nothing of
 * rollouts; the supervisor and the rollouts decide which units there are to be.
 */
import { KeyedQueue } from '../../lib/keyed-queue.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { randomHex } from '../../lib/ids.ts';
import type { Collector } from '../logs/collector.ts';
import type { Journal } from '../logs/journal.ts';
import type { LogStore } from '../logs/log-store.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Release } from './app.ts';
import { privateValues, withoutPrivateValues } from './private-values.ts';
import type { Provisioner, UnitSpec } from './provisioner.ts';
import { Failure } from './rollout.ts';
import { unitSpec } from './unit-spec.ts';
import { type Unit, unitName } from './unit.ts';

const LAST_OUTPUT_MS = 2_000;
const LAST_LINES = 50;
const HOOK_TIMEOUT_MS = 5 * 60_000;
const MAX_HOOK_LINES = 2_000;

export interface UnitsDeps {
  readonly store: Store;
  readonly provisioner: Provisioner;
  readonly collector: Collector;
  readonly journal: Journal;
  readonly logStore: LogStore;
  readonly settings: Settings;
  readonly logger: Logger;
}

export interface HookRun {
  readonly spec: UnitSpec;
  readonly release: Release;
  readonly command: string;
  readonly signal: AbortSignal;
  /** What the command is, for people. */
  readonly what: string;
  /** Gets every line, free of private values. */
  readonly say?: (line: string) => void;
}

export class Units {
  readonly #deps: UnitsDeps;
  readonly #serial = new KeyedQueue();
  readonly #starting = new Map<string, { abort: AbortController; exited: boolean }>();

  constructor(deps: UnitsDeps) {
    this.#deps = deps;
  }

  /**
   * Brings a unit to `started`; resolves with its record as it serves. Throws Failure; the unit's process may then still
   * run, in state `starting`: retire it or start it again.
   */
  start(unit: Unit, release: Release, signal: AbortSignal): Promise<Unit> {
    return this.#serial.run(unit.id, async () => {
      const start = { abort: new AbortController(), exited: false };
      this.#starting.set(unit.id, start);
      try {
        const started = await this.#bringUp(unit, release, AbortSignal.any([signal, start.abort.signal]));
        if (start.exited) {
          const lines = await this.#deps.provisioner.lastLines(unit.id, LAST_LINES);
          throw new Failure('exited', `${unit.process} ended right after it had started.`, { lines });
        }
        return started;
      } catch (error) {
        throw withoutPrivateValues(error, privateValues(release.env));
      } finally {
        this.#starting.delete(unit.id);
      }
    });
  }

  /** Tells a start under way that its process has just died. */
  noteExit(id: string): void {
    const start = this.#starting.get(id);
    if (start !== undefined) start.exited = true;
  }

  async #bringUp(unit: Unit, release: Release, signal: AbortSignal): Promise<Unit> {
    const { store, provisioner, collector, settings } = this.#deps;
    if (signal.aborted) throw new Failure('cancelled', 'The start was cancelled.');
    const spec = unitSpec(unit, release, settings.unitLimits);
    await store.transact((tx) => tx.updateUnit(unit.id, { state: 'starting', address: null }));
    const handle = await provisioner.ensure(spec);
    await store.transact((tx) => tx.updateUnit(unit.id, { handle }));
    collector.attach(unit, release);
    const limit = release.healthCheck?.timeoutSeconds;
    const timeoutMs = limit === undefined ? settings.startTimeoutMs : limit * 1000;
    const check = { healthCheck: release.healthCheck, listens: spec.listens, timeoutMs };
    const address = await provisioner.ready(unit.id, check, signal);
    for (const command of release.hooks.restartAfter) await this.#hook(unit, release, command, signal);
    await store.transact((tx) => tx.updateUnit(unit.id, { state: 'started', address }));
    return { ...unit, state: 'started', handle, address };
  }

  async #hook(unit: Unit, release: Release, command: string, signal: AbortSignal): Promise<void> {
    const spec = { ...unitSpec(unit, release, this.#deps.settings.unitLimits), id: randomHex(12), listens: false };
    await this.runCommand({ spec, release, command, signal, what: 'restart hook' });
  }

  /** Runs a hook to its end, its output going to the app's log; throws Failure `release_command_failed`. */
  async runCommand({ spec, release, command, signal, what, say = () => {} }: HookRun): Promise<void> {
    const redact = privateValues(release.env);
    let count = 0;
    const lines = new LineBuffer((text) => {
      const line = redact(text);
      count += 1;
      if (count <= MAX_HOOK_LINES) {
        const shown = count === MAX_HOOK_LINES ? '[the rest of the output is not shown]' : line;
        say(shown);
        void this.#deps.journal.note(spec.app, shown, 'hook');
      }
      return line;
    });
    const result = await this.#deps.provisioner.exec({
      unit: spec,
      command,
      output: (bytes) => lines.push(bytes),
      signal,
      timeoutMs: HOOK_TIMEOUT_MS,
    });
    lines.end();
    if (result.code === 0) return;
    const how =
      result.code === null ? `was ended by ${result.signal ?? 'a time-out'}` : `exited with code ${result.code}`;
    throw new Failure('release_command_failed', `The ${what} "${command}" ${how}.`, {
      lines: lines.last,
      hint: 'Fix the command in tancho.yaml and push again.',
    });
  }

  /** Stops a unit, stores its last output and removes every trace. Idempotent; also for units that never ran. */
  retire(unit: Unit): Promise<void> {
    this.#starting.get(unit.id)?.abort.abort();
    return this.#serial.run(unit.id, async () => {
      const { store, provisioner, collector, logStore, settings, logger } = this.#deps;
      const known = await store.unit(unit.id);
      if (known !== null && known.state !== 'stopped') {
        await store.transact((tx) => tx.updateUnit(unit.id, { state: 'stopped', address: null }));
      }
      await provisioner.stop(unit.id, settings.stopGraceMs);
      await collector.finish(unit.id, LAST_OUTPUT_MS);
      await provisioner.remove(unit.id);
      await store.transact((tx) => tx.deleteUnit(unit.id));
      await bestEffort(logger, `forgetting the output of ${unitName(unit)}`, () => logStore.forgetUnit(unit.id));
    });
  }
}

/** Cuts raw output into lines; remembers the last 50, as `line` returned them. */
class LineBuffer {
  readonly last: string[] = [];
  readonly #line: (text: string) => string;
  readonly #decoder = new TextDecoder();
  #rest = '';

  constructor(line: (text: string) => string) {
    this.#line = line;
  }

  push(bytes: Uint8Array): void {
    const parts = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n');
    this.#rest = (parts.pop() ?? '').slice(-16_384);
    for (const part of parts) this.#emit(part);
  }

  end(): void {
    if (this.#rest !== '') this.#emit(this.#rest);
    this.#rest = '';
  }

  #emit(text: string): void {
    this.last.push(this.#line(text));
    if (this.last.length > 50) this.last.shift();
  }
}
