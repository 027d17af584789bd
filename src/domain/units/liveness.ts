/**
 * Looks at serving units again and again: one that has become ready can hang later, or answer nothing but errors, and stay alive. A
 * unit that fails so many times in a row is given to the supervisor, which ends it and starts it again.
 */
import type { Logger } from '../../lib/logger.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { askAt, askByCommand, beginLooks, type LivenessCheck, livenessCheckOf, LivenessRow } from './liveness-check.ts';
import { ReleasesRead } from './releases-read.ts';
import type { Unit } from './unit.ts';
import type { ProbeResult, Provisioner } from './provisioner.ts';
import type { Ownership } from '../controls/ownership.ts';
import type { Supervisor } from './supervisor.ts';
import { unitSpec } from './unit-spec.ts';

interface LivenessDeps {
  readonly store: Store;
  readonly provisioner: Pick<Provisioner, 'probe' | 'exec'>;
  readonly supervisor: Supervisor;
  readonly ownership: Ownership;
  readonly settings: Pick<Settings, 'unitLimits'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Watch {
  /** Null: it is not looked at. */
  readonly row: LivenessRow | null;
  /** Of the unit when it was first seen: another number, and it is another life. */
  readonly exits: number;
  readonly release: number;
}

const TICK_MS = 1_000;
const COMMANDS_AT_ONCE = 4;

export class LivenessChecks {
  readonly #deps: LivenessDeps;
  readonly #watches = new Map<string, Watch>();
  readonly #closed = new AbortController();
  readonly #running = new Set<Promise<void>>();
  #commands = 0;
  /** Until the first round: what serves by then was looked at by the control before. */
  #isFirst = true;
  #timer: NodeJS.Timeout | null = null;
  #version = '';
  #units: readonly Unit[] = [];

  constructor(deps: LivenessDeps) {
    this.#deps = deps;
  }

  start(): void {
    let expected = performance.now() + TICK_MS;
    const tick = async (): Promise<void> => {
      const isLate = performance.now() - expected > TICK_MS;
      // Whoever was paused with this process needs a while, too.
      if (isLate) for (const { row } of this.#watches.values()) row?.startOver(this.#deps.now().getTime());
      await this.#begin().catch((error: unknown) =>
        this.#deps.logger.warn({ err: error }, 'looking at the units failed'),
      );
      if (this.#closed.signal.aborted) return;
      expected = performance.now() + TICK_MS;
      this.#timer = setTimeout(() => void tick(), TICK_MS);
      this.#timer.unref();
    };
    this.#timer = setTimeout(() => void tick(), TICK_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await Promise.all(this.#running);
  }

  /** Looks at every unit that is due; resolves when that is done. */
  async round(): Promise<void> {
    await this.#begin();
    await Promise.all(this.#running);
  }

  /** Why a unit that serves is about to be started again, half a sentence; null when it is well as far as is known. */
  problemOf(id: string): string | null {
    const row = this.#watches.get(id)?.row;
    return row === undefined || row === null || row.failures === 0 ? null : row.detail;
  }

  async #begin(): Promise<void> {
    const { now } = this.#deps;
    const units = await this.#serving();
    const ids = new Set(units.map(({ id }) => id));
    for (const id of this.#watches.keys()) if (!ids.has(id)) this.#watches.delete(id);
    const at = now().getTime();
    const releases = new ReleasesRead(this.#deps.store);
    const all: { unit: Unit; watch: Watch; row: LivenessRow }[] = [];
    for (const unit of units) {
      const watch = await this.#watchOf(unit, at, releases);
      const { row } = watch;
      if (row !== null) all.push({ unit, watch, row });
    }
    beginLooks(all, at, ({ unit, watch, row }) => {
      if (row.check.kind === 'command' && this.#commands >= COMMANDS_AT_ONCE) return false;
      this.#track(this.#look(unit, watch, row));
      return true;
    });
    this.#isFirst = false;
  }

  /** Read anew only when anything was committed since. */
  async #serving(): Promise<readonly Unit[]> {
    const { store, ownership } = this.#deps;
    const version = await store.version();
    if (version === this.#version) return this.#units;
    const apps = new Map((await store.apps()).map((app) => [app.name, app]));
    const work = await ownership.work();
    const units = (await store.allUnits()).filter(({ app: name, rollout, state }) => {
      const app = apps.get(name);
      const isOurs = work === null || work.rollouts.has(rollout);
      return isOurs && state === 'started' && app !== undefined && !app.removing && app.rollout === rollout;
    });
    this.#units = units;
    this.#version = version;
    return units;
  }

  async #watchOf(unit: Unit, at: number, releases: ReleasesRead): Promise<Watch> {
    const known = this.#watches.get(unit.id);
    if (known !== undefined && known.exits === unit.exits && known.release === unit.release) return known;
    const release = await releases.of(unit);
    const check = release === null ? null : livenessCheckOf(release, unit.process);
    const { exits, release: number } = unit;
    const livedMs = this.#isFirst ? at - Date.parse(unit.lastExit?.at ?? unit.createdAt) : 0;
    const watch = { row: check === null ? null : new LivenessRow(check, at, livedMs), exits, release: number };
    this.#watches.set(unit.id, watch);
    return watch;
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#deps.logger.warn({ err: error }, 'looking at a unit failed'))
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  async #look(unit: Unit, watch: Watch, row: LivenessRow): Promise<void> {
    const { supervisor, now } = this.#deps;
    const isOver = (): boolean => this.#closed.signal.aborted || this.#watches.get(unit.id) !== watch;
    const hung = await row.look(now().getTime(), () => this.#ask(unit, row.check), isOver, this.#watches.size);
    if (hung === null) return;
    // Not waited for: to end what hangs may take for ever.
    void supervisor.replaceHung(unit, { reason: hung.reason, wellUntil: hung.since });
  }

  async #ask(unit: Unit, check: LivenessCheck): Promise<ProbeResult> {
    const { provisioner, settings, store } = this.#deps;
    const { signal } = this.#closed;
    if (check.kind !== 'command') return askAt(provisioner, unit.id, check, { address: unit.address, signal });
    const release = await store.release(unit.app, unit.release);
    if (release === null) return { kind: 'unknown' };
    this.#commands += 1;
    try {
      return await askByCommand(provisioner, unitSpec(unit, release, settings.unitLimits), check, signal);
    } finally {
      this.#commands -= 1;
    }
  }
}
