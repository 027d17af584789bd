/** Starts units that die while control is away again, after the same delays as control does. */
import type { Provisioner, UnitSpec } from '../domain/units/provisioner.ts';
import type { Address } from '../domain/units/unit.ts';
import { restartDelayMs, FORGIVEN_AFTER_MS } from '../domain/units/restart-delay.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { KeptLiveness } from './kept-liveness.ts';

const READY = { healthCheck: null, timeoutMs: 60_000, watchMs: 500 };

interface KeptUnitsDeps {
  readonly provisioner: Provisioner;
  /** What it takes to start a unit; null for one that is not to serve. */
  readonly specOf: (id: string) => Promise<UnitSpec | null>;
  /** Of a unit that is to serve; called again for each death. */
  readonly onDeath: (spec: UnitSpec) => Promise<void>;
  readonly onReady: (spec: UnitSpec, address: Address | null) => Promise<void>;
  /** Where it serves as far as is known. */
  readonly addressOf: (id: string) => Promise<Address | null>;
  /** Between TERM and KILL, for one that hangs. */
  readonly stopGraceMs: number;
  readonly logger: Logger;
}

interface Watch {
  failures: number;
  startedAt: number;
  timer: NodeJS.Timeout | null;
  withdrawn: Promise<void>;
}

export class KeptUnits {
  readonly #deps: KeptUnitsDeps;
  readonly #watches = new Map<string, Watch>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #liveness: KeptLiveness;
  #isStarting = true;

  constructor(deps: KeptUnitsDeps) {
    this.#deps = deps;
    this.#liveness = new KeptLiveness({ ...deps, onHung: (spec, reason) => this.#endHung(spec, reason) });
  }

  /** Finds the units, and takes care of those that are to serve. */
  async start(): Promise<void> {
    const { provisioner } = this.#deps;
    provisioner.onExit(({ id, outOfMemory }) => this.#schedule(id, outOfMemory));
    await provisioner.recover(new Map());
    for (const { id, state } of await provisioner.list()) if (state !== 'running') this.#schedule(id);
    this.#isStarting = false;
    this.#liveness.start();
  }

  /** Its exit has it started again. */
  async #endHung(spec: UnitSpec, reason: string): Promise<void> {
    const { provisioner, onDeath, stopGraceMs, logger } = this.#deps;
    logger.warn({ unit: spec.name, reason }, 'a unit does not answer any more and is started again');
    if (spec.listens) await bestEffort(logger, `taking unit ${spec.id} out of the routes`, () => onDeath(spec));
    // Not waited for: to end what hangs may take for ever, and the next control does it as well.
    void bestEffort(logger, `ending unit ${spec.id}`, () => provisioner.stop(spec.id, stopGraceMs, true));
  }

  /** Resolves when nothing is under way any more; the units go on. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#liveness.close();
    for (const { timer } of this.#watches.values()) if (timer !== null) clearTimeout(timer);
    await Promise.all(this.#running);
  }

  #schedule(id: string, isAtBound = false): void {
    if (this.#closed.signal.aborted) return;
    const watch = this.#watches.get(id) ?? { failures: 0, startedAt: 0, timer: null, withdrawn: Promise.resolve() };
    this.#watches.set(id, watch);
    if (watch.timer !== null) return;
    const hasLived = watch.startedAt > 0 && performance.now() - watch.startedAt > FORGIVEN_AFTER_MS;
    watch.failures = hasLived ? 1 : watch.failures + 1;
    // Those found dead have waited for long enough.
    const delayMs = this.#isStarting ? 0 : restartDelayMs(watch.failures, isAtBound);
    watch.withdrawn = this.#withdraw(id);
    watch.timer = setTimeout(() => {
      watch.timer = null;
      this.#track(`starting unit ${id} again`, () => this.#attempt(id, watch));
    }, delayMs);
  }

  #track(what: string, work: () => Promise<void>): void {
    const tracked = bestEffort(this.#deps.logger, what, work).finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** Resolves when reporting has begun: whatever is reported of its next life comes after it. */
  async #withdraw(id: string): Promise<void> {
    const { specOf, onDeath, logger } = this.#deps;
    await bestEffort(logger, `reporting the death of unit ${id}`, async () => {
      const spec = await specOf(id);
      if (spec?.listens === true) this.#track(`taking unit ${id} out of the routes`, () => onDeath(spec));
    });
  }

  async #attempt(id: string, watch: Watch): Promise<void> {
    const { provisioner, specOf, onReady, logger } = this.#deps;
    await watch.withdrawn;
    const spec = await specOf(id);
    if (spec === null || this.#closed.signal.aborted) return;
    try {
      await provisioner.ensure(spec);
    } catch (error) {
      this.#schedule(id);
      throw error;
    }
    watch.startedAt = performance.now();
    // One that dies meanwhile is reported by its exit; one that is slow is left as it is for control to judge.
    const address = await provisioner.ready(id, { ...READY, listens: spec.listens }, this.#closed.signal);
    await onReady(spec, address);
    logger.info({ unit: spec.name }, 'a unit that had died runs again');
  }
}
