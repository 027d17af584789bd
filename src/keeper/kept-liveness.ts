/** Looks at units that serve while control is away, as control does: one that hangs is handed over to be started again. */
import { askAt, askByCommand, beginLooks, LivenessRow } from '../domain/units/liveness-check.ts';
import type { Provisioner, UnitSpec } from '../domain/units/provisioner.ts';
import type { Address } from '../domain/units/unit.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';

const TICK_MS = 1_000;

interface KeptLivenessDeps {
  readonly provisioner: Provisioner;
  readonly specOf: (id: string) => Promise<UnitSpec | null>;
  readonly addressOf: (id: string) => Promise<Address | null>;
  /** `reason`: half a sentence. */
  readonly onHung: (spec: UnitSpec, reason: string) => Promise<void>;
  readonly logger: Logger;
}

interface Watch {
  readonly spec: UnitSpec;
  readonly row: LivenessRow | null;
}

export class KeptLiveness {
  readonly #deps: KeptLivenessDeps;
  readonly #watches = new Map<string, Watch>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: KeptLivenessDeps) {
    this.#deps = deps;
  }

  start(): void {
    let expected = performance.now() + TICK_MS;
    const tick = async (): Promise<void> => {
      // Whoever was paused with this process needs a while, too.
      if (performance.now() - expected > TICK_MS) {
        for (const { row } of this.#watches.values()) row?.startOver(Date.now());
      }
      await bestEffort(this.#deps.logger, 'looking at the units', () => this.#begin());
      if (this.#closed.signal.aborted) return;
      expected = performance.now() + TICK_MS;
      this.#timer = setTimeout(() => void tick(), TICK_MS);
    };
    this.#timer = setTimeout(() => void tick(), TICK_MS);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#running);
  }

  async #begin(): Promise<void> {
    const { provisioner, specOf } = this.#deps;
    const running = new Set((await provisioner.list()).filter(({ state }) => state === 'running').map(({ id }) => id));
    // One that is away for a moment begins another life.
    for (const id of this.#watches.keys()) if (!running.has(id)) this.#watches.delete(id);
    const at = Date.now();
    for (const id of running) {
      if (this.#closed.signal.aborted) return;
      if (!this.#watches.has(id)) {
        const spec = await specOf(id);
        if (spec === null) continue;
        const { liveness = null } = spec;
        this.#watches.set(id, { spec, row: liveness === null ? null : new LivenessRow(liveness, at) });
      }
    }
    const looked = [...this.#watches.values()].flatMap(({ spec, row }) => (row === null ? [] : [{ spec, row }]));
    beginLooks(looked, at, ({ spec, row }) => {
      this.#track(spec, row);
      return true;
    });
  }

  #track(spec: UnitSpec, row: LivenessRow): void {
    const work = bestEffort(this.#deps.logger, `looking at unit ${spec.id}`, () => this.#look(spec, row)).finally(() =>
      this.#running.delete(work),
    );
    this.#running.add(work);
  }

  async #look(spec: UnitSpec, row: LivenessRow): Promise<void> {
    const { provisioner, addressOf, onHung } = this.#deps;
    const { check } = row;
    const { signal } = this.#closed;
    const isOver = (): boolean => signal.aborted || this.#watches.get(spec.id)?.row !== row;
    const ask = async () =>
      check.kind === 'command'
        ? askByCommand(provisioner, spec, check, signal)
        : askAt(provisioner, spec.id, check, { address: await addressOf(spec.id), signal });
    const hung = await row.look(Date.now(), ask, isOver);
    if (hung === null) return;
    this.#watches.delete(spec.id);
    await onHung(spec, hung.reason);
  }
}
