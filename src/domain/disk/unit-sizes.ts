/**
 * Looks at what units have written beside their code, which goes with them: one that holds more than it may, in bytes or in files, is ended and begins anew, and
 * when the reserve of the platform is touched, the one that holds most. Its app's log, `tancho app info` and the events say why.
 */
import { atMost } from '../../lib/deadline.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { Journal } from '../logs/journal.ts';
import type { DiskSpace, MachineProbe } from '../diagnosis/probe.ts';
import type { Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import type { Provisioner } from '../units/provisioner.ts';
import type { Supervisor } from '../units/supervisor.ts';
import { servingUnits, type Unit } from '../units/unit.ts';
import { isMuch, type Shortage, shortageOf, shortOf } from './disk-room.ts';
import { HeldOutput, type HeldOutputDeps } from './held-output.ts';
import type { DiskSurvey } from './disk-survey.ts';
import { CountSchedule, type RoomKind } from './count-schedule.ts';
import { each, type Room, smallest } from './headroom.ts';
import { LargestWriter, type LargestWriterDeps } from './largest-writer.ts';

interface UnitSizesDeps extends HeldOutputDeps, LargestWriterDeps {
  readonly store: Pick<Store, 'apps' | 'allUnits' | 'release'>;
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly survey: Pick<DiskSurvey, 'units'>;
  readonly supervisor: Pick<Supervisor, 'replaceOutgrown' | 'endOutgrown'>;
  readonly provisioner: Pick<Provisioner, 'holdOutput'>;
  readonly journal: Pick<Journal, 'note'>;
  readonly settings: Pick<Settings, 'diskReserveBytes' | 'unitDiskBytes' | 'unitFiles'>;
  readonly logger: Logger;
  /** How long ends of units are waited for; absent: 30,000. */
  readonly endMs?: number;
}

const PACE = { everyMs: 30_000, rest: 1, longestRestMs: 2_000 };
const COUNT_WHEN_LOW_MS = 10_000;
const LOOK_WHEN_LOW_MS = 500;
/** Whoever is so much above the limit when it is seen takes as much again while it is asked to end. */
const FAST = 1.05;
/** Meanwhile it goes on writing. */
const GRACE_MS = 1_000;
/** For ends of units; one may take for ever, on a disk that hangs, and the others are looked after meanwhile. */
const END_MS = 30_000;

interface Watched {
  readonly unit: Unit;
  readonly isServing: boolean;
  readonly limit: Room;
}

export class UnitSizes {
  readonly #deps: UnitSizesDeps;
  /** Of releases, bytes; 0: they say nothing. */
  readonly #limits = new Map<string, number>();
  /** Unit's id -> as last counted. */
  #sizes = new Map<string, Room>();
  readonly #schedule = new CountSchedule(PACE);
  #isDiskLow = false;
  /** When they were counted last, it was not yet known that room is to be made by them. */
  #isSpared = false;
  readonly #heldOutput: HeldOutput;
  readonly #largestWriter: LargestWriter;
  #stop: (() => Promise<void>) | null = null;

  constructor(deps: UnitSizesDeps) {
    this.#deps = deps;
    this.#heldOutput = new HeldOutput(deps);
    this.#largestWriter = new LargestWriter(deps);
  }

  /** How soon it is to be looked again. */
  get pauseMs(): number {
    const pauseMs = this.#schedule.pauseMs(this.#deps.settings.diskReserveBytes);
    return this.#isDiskLow ? Math.min(pauseMs, LOOK_WHEN_LOW_MS) : pauseMs;
  }

  start(): void {
    this.#stop ??= repeatedly(
      () => this.pauseMs,
      () => this.look(),
    );
  }

  async close(): Promise<void> {
    await this.#stop?.();
    await this.#largestWriter.close();
  }

  /** Never rejects: what cannot be had now is looked at the next time. Resolves when those that are ended are, or after half a minute. */
  async look(): Promise<void> {
    const { probe, settings, logger } = this.#deps;
    try {
      const space = await probe.disk();
      const shortage = shortageOf(space, settings);
      this.#isDiskLow = shortage !== null;
      // Of many units that takes seconds, and whoever writes is to be ended meanwhile.
      const holding = bestEffort(logger, 'holding room for the output of units', () =>
        this.#heldOutput.look(space, this.#isDiskLow),
      );
      await Promise.all([holding, this.#makeRoom(space, shortage)]);
    } catch (error) {
      logger.warn({ err: error }, 'the files of units could not be counted');
    }
  }

  async #makeRoom(space: DiskSpace | null, shortage: Shortage | null): Promise<void> {
    const isUpToUnits = await this.#largestWriter.look(shortage);
    const begun = performance.now();
    const whenLowMs = isUpToUnits && this.#isSpared ? 0 : COUNT_WHEN_LOW_MS;
    const kinds = this.#schedule.due(space, begun, shortage === null ? PACE.everyMs : whenLowMs);
    if (kinds.length === 0) return;
    this.#isSpared = !isUpToUnits;
    const headroom = await this.#count(kinds, isUpToUnits ? shortage : null);
    this.#schedule.counted(kinds, headroom, performance.now() - begun);
  }

  /** Resolves with what may be taken until one of them holds too much. `shortage`: where they are to make room. */
  async #count(kinds: readonly RoomKind[], shortage: Shortage | null): Promise<Room> {
    const watched = new Map((await this.#watched()).map((one) => [one.unit.id, one]));
    const ended = new Map<string, Promise<void>>();
    const before = this.#sizes;
    this.#sizes = new Map([...before].filter(([id]) => watched.has(id)));
    // Those that are counted quickly come first: who writes much in one place is among them.
    const ids = [...watched.keys()].sort((a, b) => (before.get(a)?.files ?? 0) - (before.get(b)?.files ?? 0));
    for (const kind of kinds) {
      for await (const { id, held } of this.#deps.survey.units(ids, kind)) {
        const one = watched.get(id);
        if (one === undefined) continue;
        this.#sizes.set(id, { ...(this.#sizes.get(id) ?? NOTHING), [kind]: held });
        if (held <= one.limit[kind] || ended.has(id)) continue;
        ended.set(id, this.#end(one, outgrown(kind, held, one.limit), held > one.limit[kind] * FAST ? 0 : GRACE_MS));
      }
    }
    // They begin anew.
    for (const id of ended.keys()) this.#sizes.delete(id);
    const headroom = smallest([
      this.#ofNewcomers(),
      ...[...watched.values()].map(({ unit: { id }, limit }) => {
        const held = this.#sizes.get(id) ?? NOTHING;
        return each((kind) => limit[kind] - held[kind]);
      }),
    ]);
    const largest = shortage !== null && ended.size === 0 && this.#endLargest([...watched.values()], shortage);
    await atMost(this.#deps.endMs ?? END_MS, Promise.all([largest, ...ended.values()]));
    return headroom;
  }

  /** Those that serve, and those that are about to. */
  async #watched(): Promise<Watched[]> {
    const { store, settings } = this.#deps;
    const [apps, units] = [await store.apps(), await store.allUnits()];
    const byApp = Map.groupBy(units, ({ app }) => app);
    const serving = new Set(apps.flatMap((app) => servingUnits(app, byApp.get(app.name) ?? [])).map(({ id }) => id));
    const alive = units.filter(({ id, state }) => state === 'starting' || (state === 'started' && serving.has(id)));
    const files = endless(settings.unitFiles);
    const found = [];
    for (const unit of alive) {
      const limit = { bytes: endless(await this.#limitOf(unit)), files };
      found.push({ unit, isServing: unit.state === 'started', limit });
    }
    const used = new Set(alive.map(keyOf));
    for (const key of this.#limits.keys()) if (!used.has(key)) this.#limits.delete(key);
    return found;
  }

  /** Of units that are started before the next count. */
  #ofNewcomers(): Room {
    const { unitDiskBytes, unitFiles } = this.#deps.settings;
    return { bytes: endless(unitDiskBytes), files: endless(unitFiles) };
  }

  async #end({ unit, isServing }: Watched, reason: string, graceMs: number): Promise<void> {
    const { supervisor } = this.#deps;
    if (isServing) await supervisor.replaceOutgrown(unit, reason, graceMs);
    else await supervisor.endOutgrown(unit, reason, graceMs);
  }

  /** Of what is short: to end who holds much of the other would help nobody. */
  async #endLargest(watched: readonly Watched[], shortage: Shortage): Promise<void> {
    const heldBy = ({ unit }: Watched): number => this.#sizes.get(unit.id)?.[shortage.of] ?? 0;
    const [first] = watched.filter(({ isServing }) => isServing).sort((a, b) => heldBy(b) - heldBy(a));
    if (first === undefined || !isMuch(heldBy(first), shortage)) return;
    const reason = `${shortOf(shortage, heldBy(first))}, more than any other`;
    await this.#deps.supervisor.replaceOutgrown(first.unit, reason, GRACE_MS);
  }

  /** Bytes; 0 for no limit. */
  async #limitOf(unit: Unit): Promise<number> {
    const { store, settings } = this.#deps;
    const key = keyOf(unit);
    // A release never changes.
    const limit = this.#limits.get(key) ?? (await store.release(unit.app, unit.release))?.limits?.diskBytes ?? 0;
    this.#limits.set(key, limit);
    return limit > 0 ? limit : settings.unitDiskBytes;
  }
}

const NOTHING: Room = { bytes: 0, files: 0 };

function keyOf({ app, release }: Unit): string {
  return `${app} ${release}`;
}

function endless(limit: number): number {
  return limit > 0 ? limit : Infinity;
}

/** Why a unit holds too much. */
function outgrown(kind: RoomKind, held: number, limit: Room): string {
  if (kind === 'bytes') return `it has written ${mib(held)}, and a unit may hold ${mib(limit.bytes)}`;
  return `it has made ${held} files, and a unit may hold ${limit.files}`;
}

function mib(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)} MiB`;
}
