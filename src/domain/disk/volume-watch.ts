/**
 * Looks at how much the volumes with a limit hold, every minute, and as soon as so much less is free that one of them may hold too much. One that is
 * full is noted in the log of its app. Where it holds a twentieth more (and the kernel keeps no quota), the units that have it are ended and started
 * again with the volume read-only, until it holds less: what is being written then is lost, but nobody takes the disk of all others.
 */
import { atMost } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/logger.ts';
import { repeatedly } from '../../lib/repeatedly.ts';
import type { MachineProbe } from '../diagnosis/probe.ts';
import { CountSchedule } from './count-schedule.ts';
import type { Journal } from '../logs/journal.ts';
import type { Store } from '../store.ts';
import type { Provisioner } from '../units/provisioner.ts';
import type { Supervisor } from '../units/supervisor.ts';
import { servingUnits } from '../units/unit.ts';
import type { VolumeHost } from '../volumes/volume-host.ts';
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
const BYTES = ['bytes'] as const;

interface VolumeWatchDeps {
  readonly store: Pick<Store, 'volumes' | 'app' | 'units' | 'release'>;
  readonly volumeHost: Pick<VolumeHost, 'hold' | 'size' | 'restrict' | 'isRestricted'>;
  readonly provisioner: Pick<Provisioner, 'supports'>;
  readonly supervisor: Pick<Supervisor, 'replaceOutgrown'>;
  readonly probe: Pick<MachineProbe, 'disk'>;
  readonly journal: Journal;
  readonly logger: Logger;
}

export class VolumeWatch {
  readonly #deps: VolumeWatchDeps;
  readonly #schedule = new CountSchedule(PACE);
  /** `<app>/<name>` -> a sentence about it. */
  #full = new Map<string, string>();
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
    await this.#stop?.();
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
    const kinds = limits === this.#seen ? due : BYTES;
    if (!kinds.includes('bytes')) return;
    this.#seen = limits;
    const bytes = await this.look(signal);
    this.#schedule.counted(kinds, { bytes, files: Infinity }, performance.now() - begun);
  }

  /**
   * Never rejects: what cannot be had now is looked at the next time. Resolves with how many bytes can be written until one of them may hold too
   * much.
   */
  async look(signal?: AbortSignal): Promise<number> {
    const { store, logger } = this.#deps;
    let headroom = Infinity;
    try {
      const full = new Map<string, string>();
      for (const volume of await store.volumes()) {
        if (signal?.aborted === true) return headroom;
        if (volume.state !== 'ready') continue;
        const { text, left } = await this.#lookAt(volume).catch((error: unknown) => {
          logger.warn({ err: error, volume: keyOf(volume) }, 'a volume could not be looked at');
          return { text: this.#full.get(keyOf(volume)) ?? null, left: Infinity };
        });
        if (text !== null) full.set(keyOf(volume), text);
        headroom = Math.min(headroom, left);
      }
      this.#full = full;
    } catch (error) {
      logger.warn({ err: error }, 'the volumes could not be looked at');
    }
    return headroom;
  }

  /** What is wrong with it, and how many bytes it may still take. */
  async #lookAt(volume: Volume): Promise<{ readonly text: string | null; readonly left: number }> {
    const { volumeHost } = this.#deps;
    await volumeHost.hold(volume, volume.maxBytes);
    if (volume.maxBytes === 0) {
      await this.#free(volume);
      return { text: null, left: Infinity };
    }
    const bytes = await volumeHost.size(volume);
    // Of one that cannot be counted in time it stays as it was.
    const text = bytes === null ? (this.#full.get(keyOf(volume)) ?? null) : await this.#judge(volume, bytes);
    const left = volume.maxBytes * TOO_MUCH - (bytes ?? Infinity);
    // What is read only grows no more.
    return { text, left: left > 0 ? left : Infinity };
  }

  /** Which volumes there are, and what they may hold; a store that is away is asked again. */
  async #limits(): Promise<string> {
    const volumes = await this.#deps.store.volumes().catch(() => []);
    return JSON.stringify(volumes.map(({ app, name, maxBytes }) => [app, name, maxBytes]));
  }

  /** A sentence about a full one; null: it is not. */
  async #judge(volume: Volume, bytes: number): Promise<string | null> {
    const { app, name, maxBytes } = volume;
    if (bytes < maxBytes) {
      await this.#free(volume);
      return null;
    }
    if (bytes > maxBytes * TOO_MUCH) await this.#restrict(volume, bytes);
    const isRestricted = await this.#deps.volumeHost.isRestricted(volume);
    const how = isRestricted ? 'read-only for units' : 'full';
    const text = `The volume ${name} is ${how}: it holds ${mib(bytes)} of ${mib(maxBytes)}. Remove what is not needed (tancho app run and tancho app shell can), or give it more: tancho volume update ${name} --size <size> -a ${app}`;
    if (this.#full.get(keyOf(volume))?.includes(how) !== true) await this.#deps.journal.note(app, text);
    return text;
  }

  async #restrict(volume: Volume, bytes: number): Promise<void> {
    const { volumeHost, provisioner, supervisor, store } = this.#deps;
    // Elsewhere all see the files of the machine itself.
    if (provisioner.supports.volumes !== 'anywhere' || (await volumeHost.isRestricted(volume))) return;
    await volumeHost.restrict(volume, true);
    const app = await store.app(volume.app);
    const units = app === null ? [] : servingUnits(app, await store.units(volume.app));
    const graceMs = bytes > volume.maxBytes * FAR_TOO_MUCH ? 0 : GRACE_MS;
    const reason = `its volume ${volume.name} holds ${mib(bytes)} of ${mib(volume.maxBytes)}, and is read-only until it holds less`;
    const ends = Promise.all(
      units.map(async (unit) => {
        const { mounts = [] } = (await store.release(unit.app, unit.release)) ?? {};
        if (!mountsOf(mounts, unit.process).some((mount) => mount.volume === volume.name)) return;
        if (unit.state === 'started') await supervisor.replaceOutgrown(unit, reason, graceMs);
      }),
    );
    await atMost(END_MS, ends);
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
