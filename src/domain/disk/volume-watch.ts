/**
 * Looks at how much the volumes with a limit hold, every minute, and as soon as so much less is free that one of them may hold too much. One that is
 * full is noted in the log of its app. Where it holds a twentieth more (and the kernel keeps no quota), the units that have it are ended and started
 * again with the volume read-only, until it holds less: what is being written then is lost, but nobody takes the disk of all others.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { atMost } from '../../lib/deadline.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import { Turns } from '../../lib/turns.ts';
import type { MachineProbe } from '../diagnosis/probe.ts';
import { CountSchedule } from './count-schedule.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import type { Provisioner } from '../units/provisioner.ts';
import type { Supervisor } from '../units/supervisor.ts';
import type { Unit } from '../units/unit.ts';
import { SMALL_FILE_BYTES, type VolumeHost } from '../volumes/volume-host.ts';
import { mountsOf, type Volume } from '../volumes/volume.ts';

const PACE = { everyMs: 60_000, rest: 4, longestRestMs: 60_000 };
/** Until it is seen that there is another volume, or another limit. */
const NEWCOMERS_MS = 2_000;
/** Where the kernel keeps a quota, it is at so much more, too. */
const TOO_MUCH = 1.05;
/** Above it as much again is written while the writer is asked to end. */
const FAR_TOO_MUCH = 1.1;
const GRACE_MS = 1_000;
/** For the ends of its units; one may take for ever, on a disk that hangs. */
const END_MS = 30_000;
const KINDS = ['bytes', 'files'] as const;
/** Counts at one time, and those of volumes that take longer than SOON_MS. */
const AT_ONCE = 4;
const LONG_AT_ONCE = 2;
const SOON_MS = 30_000;
const LONG_MS = 60 * 60_000;

interface VolumeWatchDeps {
  readonly store: Pick<Store, 'volumes' | 'volume' | 'app' | 'units' | 'release'>;
  readonly volumeHost: Pick<VolumeHost, 'hold' | 'size' | 'restrict' | 'isRestricted'>;
  readonly provisioner: Pick<Provisioner, 'supports' | 'list'>;
  readonly supervisor: Pick<Supervisor, 'replaceOutgrown' | 'endOutgrown'>;
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly journal: Journal;
  readonly logger: Logger;
}

/** A unit that has a volume, and may write it. */
interface Writer {
  readonly unit: Unit;
  readonly isServing: boolean;
  /** False: it is about to, and may be found to read it only. */
  readonly isRunning: boolean;
}

export class VolumeWatch {
  readonly #deps: VolumeWatchDeps;
  readonly #schedule = new CountSchedule(PACE);
  /** `<app>/<name>` -> a sentence about it. */
  readonly #full = new Map<string, string>();
  /** Those that take long to be counted -> bytes by the last count, Infinity before there is one; and their counts, each with the rest after it. */
  readonly #long = new Map<string, number>();
  readonly #beside = new Map<string, Promise<void>>();
  readonly #besideTurns = new Turns(LONG_AT_ONCE);
  readonly #closed = new AbortController();
  /** As #limits() said when they were looked at. */
  #seen = '';
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: VolumeWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#stop ??= repeatedly(
      () => Math.min(this.#schedule.pauseMs(), NEWCOMERS_MS),
      (signal) => this.check(signal),
    );
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#stop?.();
    await Promise.all(this.#beside.values());
  }

  /** A sentence for each volume of the app that holds more than it should. */
  problemsOf(app: string): string[] {
    return [...this.#full].filter(([key]) => key.startsWith(`${app}/`)).map(([, text]) => text);
  }

  /** Looks when it is time to. */
  async check(signal?: AbortSignal): Promise<void> {
    const begun = performance.now();
    const due = this.#schedule.due(await this.#deps.probe.disk(), begun);
    const limits = await this.#limits();
    if (limits === this.#seen && due.length === 0) return;
    this.#seen = limits;
    const bytes = await this.look(signal);
    const headroom = { bytes, files: bytes / SMALL_FILE_BYTES };
    this.#schedule.counted(KINDS, headroom, performance.now() - begun);
  }

  /**
   * Never rejects: what cannot be had now is looked at the next time, and what takes long is counted beside. Resolves with how many bytes can be written
   * until one of them may hold too much.
   */
  async look(signal: AbortSignal = this.#closed.signal): Promise<number> {
    const { store, logger } = this.#deps;
    try {
      const volumes = (await store.volumes()).filter(({ state }) => state === 'ready');
      const keys = new Set(volumes.map(keyOf));
      for (const known of [this.#full, this.#long])
        for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
      const turns = new Turns(AT_ONCE);
      const left = await Promise.all(volumes.map((volume) => turns.run(() => this.#lookSoon(volume, signal))));
      return left.reduce((least, one) => Math.min(least, one), Infinity);
    } catch (error) {
      logger.warn({ err: error }, 'the volumes could not be looked at');
      return Infinity;
    }
  }

  /** How many bytes it may still take; of one that takes long, none is known. */
  async #lookSoon(volume: Volume, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Infinity;
    const { logger, volumeHost } = this.#deps;
    try {
      await bestEffort(logger, `the quota of the volume ${keyOf(volume)}`, () =>
        volumeHost.hold(volume, volume.maxBytes),
      );
      if (volume.maxBytes === 0) return await this.#judge(volume, 0);
      const last = this.#long.get(keyOf(volume));
      const bytes = last === undefined ? await volumeHost.size(volume, { signal }) : null;
      if (bytes !== null) return await this.#judge(volume, bytes);
      // It may have been given more; an old count ends nobody.
      if (last !== undefined && last < volume.maxBytes) await this.#judge(volume, last);
      this.#countBeside(volume);
    } catch (error) {
      logger.warn({ err: error, volume: keyOf(volume) }, 'a volume could not be looked at');
    }
    return Infinity;
  }

  /** However long that takes: a volume of which nobody knows what it holds has no limit. Until then it stays as it was. The disk rests as long after it. */
  #countBeside(volume: Volume): void {
    const { logger } = this.#deps;
    const key = keyOf(volume);
    if (!this.#long.has(key)) this.#long.set(key, Infinity);
    if (this.#beside.has(key)) return;
    const counting = this.#besideTurns
      .run(() => this.#lookLong(volume), this.#closed.signal)
      .then((tookMs) => delay(tookMs, undefined, { signal: this.#closed.signal, ref: false }))
      .catch((error: unknown) => {
        if (!this.#closed.signal.aborted) logger.warn({ err: error, volume: key }, 'a volume could not be counted');
      })
      .finally(() => this.#beside.delete(key));
    this.#beside.set(key, counting);
  }

  /** How long it took to count it. */
  async #lookLong(volume: Volume): Promise<number> {
    const { store, volumeHost } = this.#deps;
    const begun = performance.now();
    const bytes = await volumeHost.size(volume, { withinMs: LONG_MS, signal: this.#closed.signal });
    const tookMs = performance.now() - begun;
    // It may have another limit by now.
    const known = await store.volume(volume.app, volume.name);
    if (bytes === null || known?.state !== 'ready') return tookMs;
    this.#long.set(keyOf(volume), bytes);
    await this.#judge(known, bytes);
    if (tookMs < SOON_MS) this.#long.delete(keyOf(volume));
    return tookMs;
  }

  /** Which volumes there are, and what they may hold; a store that is away is asked again. */
  async #limits(): Promise<string> {
    const volumes = await this.#deps.store.volumes().catch(() => []);
    return JSON.stringify(volumes.map(({ app, name, maxBytes }) => [app, name, maxBytes]));
  }

  /** How many bytes it may still take; Infinity where it takes no more, or any number. */
  async #judge(volume: Volume, bytes: number): Promise<number> {
    const { app, name, maxBytes } = volume;
    if (bytes < maxBytes || maxBytes === 0) {
      await this.#free(volume);
      this.#full.delete(keyOf(volume));
      return maxBytes === 0 ? Infinity : maxBytes * TOO_MUCH - bytes;
    }
    const isOver = bytes > maxBytes * TOO_MUCH;
    const isWritten = isOver && (await this.#restrict(volume, bytes));
    const isRestricted = await this.#deps.volumeHost.isRestricted(volume);
    const how = isRestricted ? 'read-only for units' : 'full';
    const text = `The volume ${name} is ${how}: it holds ${mib(bytes)} of ${mib(maxBytes)}. Remove what is not needed (tancho app run and tancho app shell can), or give it more: tancho volume update ${name} --size <size> -a ${app}`;
    if (this.#full.get(keyOf(volume))?.includes(how) !== true) await this.#deps.journal.note(app, text);
    this.#full.set(keyOf(volume), text);
    if (!isOver) return maxBytes * TOO_MUCH - bytes;
    return isWritten ? maxBytes * (TOO_MUCH - 1) : Infinity;
  }

  /** Units read it only from now on, and those that write it are ended, whatever an earlier look has come to. False: none may write it any more. */
  async #restrict(volume: Volume, bytes: number): Promise<boolean> {
    const { volumeHost, provisioner, supervisor } = this.#deps;
    // Elsewhere all see the files of the machine itself.
    if (provisioner.supports.volumes !== 'anywhere') return false;
    if (!(await volumeHost.isRestricted(volume))) await volumeHost.restrict(volume, true);
    const writers = await this.#writers(volume);
    const graceMs = bytes > volume.maxBytes * FAR_TOO_MUCH ? 0 : GRACE_MS;
    const reason = `its volume ${volume.name} holds ${mib(bytes)} of ${mib(volume.maxBytes)}, and is read-only until it holds less`;
    const ends = writers.map(async ({ unit, isServing, isRunning }) => {
      if (isServing) await supervisor.replaceOutgrown(unit, reason, graceMs);
      else if (isRunning) await supervisor.endOutgrown(unit, reason, graceMs);
    });
    await atMost(END_MS, Promise.all(ends));
    return writers.length > 0;
  }

  /** Also of rollouts that do not serve, or no more. */
  async #writers({ app: name, name: volume }: Volume): Promise<Writer[]> {
    const { store, provisioner } = this.#deps;
    const [app, units] = [await store.app(name), await store.units(name)];
    const seen = new Map((await provisioner.list()).map((unit) => [unit.id, unit]));
    const writers = [];
    for (const unit of units) {
      const now = seen.get(unit.id);
      const isRunning = now?.state === 'running';
      if (isRunning ? now.readOnly?.includes(volume) === true : unit.state !== 'starting') continue;
      const { mounts = [] } = (await store.release(name, unit.release)) ?? {};
      if (!mountsOf(mounts, unit.process).some((mount) => mount.volume === volume)) continue;
      writers.push({ unit, isServing: unit.state === 'started' && unit.rollout === app?.rollout, isRunning });
    }
    return writers;
  }

  async #free(volume: Volume): Promise<void> {
    const { volumeHost, journal } = this.#deps;
    if (!(await volumeHost.isRestricted(volume))) return;
    await volumeHost.restrict(volume, false);
    const { app, name } = volume;
    await journal.note(
      app,
      `The volume ${name} has room again. Units write it after their next start: tancho app restart -a ${app}`,
    );
  }
}

function keyOf({ app, name }: Volume): string {
  return `${app}/${name}`;
}

function mib(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
