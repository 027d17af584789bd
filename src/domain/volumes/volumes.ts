/** Use cases of volumes: made, mounted, looked at and removed by the teams of their app. */
import type { Act, ActOptions } from '../act.ts';
import { demand } from '../access.ts';
import type { App, Release } from '../apps/app.ts';
import { checkProcessName } from '../apps/app-settings.ts';
import { demandApp } from '../demand-app.ts';
import type { NewRelease } from '../apps/next-release.ts';
import { type Caller, callerName, isAdmin } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { replaceUnits } from '../rollouts/replace-units.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import type { Say } from '../say.ts';
import type { Settings } from '../settings.ts';
import type { Store, StoreWriter } from '../store.ts';
import { placementFor } from '../pools/placement.ts';
import type { Engines } from '../units/engines.ts';
import { wantedCounts } from '../units/wanted-units.ts';
import { demandMountable, demandVolumes, releaseMounts } from './release-mounts.ts';
import { removeVolume } from './removal.ts';
import {
  checkMountPath,
  checkVolumeName,
  checkVolumeSize,
  type Mount,
  type ReleaseMount,
  type Volume,
  volumeNotFound,
} from './volume.ts';
import { demandPlaceFor } from './volume-count.ts';
import type { VolumeHost } from './volume-host.ts';

export interface VolumeView {
  readonly volume: Volume;
  /** Where the units that serve have it, or those of the first deploy will; null: nowhere. */
  readonly mount: ReleaseMount | null;
  /** Null where it cannot be counted in time. */
  readonly bytes: number | null;
}

interface NewVolume {
  readonly name: unknown;
  /** Bytes; absent: as much as a volume may hold here. */
  readonly maxBytes?: number;
  readonly isSingle?: boolean;
}

interface MountRequest {
  readonly path: unknown;
  /** Absent or empty: all. */
  readonly processes?: readonly string[];
}

export interface Volumes {
  /** Errors: app.not_found, volume.invalid, volume.name_taken, quota.exceeded for more volumes than an app may have. */
  create(caller: Caller, app: string, input: NewVolume): Promise<VolumeView>;
  /** Sorted by name, with what they hold. */
  list(caller: Caller, app: string): Promise<VolumeView[]>;
  info(caller: Caller, app: string, name: string): Promise<VolumeView>;
  /** Errors: volume.not_found, volume.invalid, volume.one_writer when several units have it that only one may have. */
  update(caller: Caller, app: string, name: string, change: Omit<NewVolume, 'name'>): Promise<VolumeView>;
  /**
   * Replaces the units of an app that runs. Errors: volume.not_found, volume.invalid, volume.one_writer, process.not_found, unsupported for
   * a path that this machine cannot mount at, unit.failed, quota.exceeded.
   */
  mount(caller: Caller, app: string, name: string, request: MountRequest, say: Say): Promise<void>;
  /** The data stays. Errors: volume.not_mounted; volume.mounted where the app's file says so; unit.failed. */
  unmount(caller: Caller, app: string, name: string, say: Say): Promise<void>;
  /** With its data. Errors: volume.mounted. */
  remove(caller: Caller, app: string, name: string): Promise<void>;
}

interface VolumesDeps {
  readonly store: Store;
  readonly host: VolumeHost;
  readonly provisioner: Pick<Engines, 'at'>;
  readonly rollouts: Rollouts;
  readonly journal: Journal;
  readonly act: Act;
  readonly settings: Pick<Settings, 'volumeMaxBytes'>;
  readonly now: () => Date;
}

type VolumeAction = 'volume.create' | 'volume.update' | 'volume.mount' | 'volume.unmount' | 'volume.remove';

export function createVolumes(deps: VolumesDeps): Volumes {
  const { store, host, provisioner, rollouts, journal, act, settings, now } = deps;

  async function doing<T>(
    caller: Caller,
    action: VolumeAction,
    name: string,
    detail: string,
    work: (app: App) => Promise<T>,
  ): Promise<T> {
    const app = await demandApp(store, name);
    const options: ActOptions = { target: `app:${name}`, lease: `app:${name}`, detail: detail.slice(0, 200) };
    return act(caller, action, { app }, options, async () => work(await demandApp(store, name)));
  }

  async function demandVolume(app: string, name: string): Promise<Volume> {
    const volume = await store.volume(app, name);
    if (volume === null) throw volumeNotFound(app, name);
    return volume;
  }

  async function servingOf(app: App): Promise<Release | null> {
    return app.release === null ? null : store.release(app.name, app.release);
  }

  async function viewOf(volume: Volume, app: App, serving: Release | null): Promise<VolumeView> {
    const mounts = serving?.mounts ?? releaseMounts(app.settings.mounts);
    const mount = mounts.find((one) => one.volume === volume.name) ?? null;
    return { volume, mount, bytes: await host.size(volume) };
  }

  async function view(app: App, name: string): Promise<VolumeView> {
    return viewOf(await demandVolume(app.name, name), app, await servingOf(app));
  }

  function sizeFor(caller: Caller, asked: number | undefined): number {
    const most = settings.volumeMaxBytes;
    const bytes = asked === undefined ? most : checkVolumeSize(asked);
    if (most === 0 || isAdmin(caller) || (bytes !== 0 && bytes <= most)) return bytes;
    throw new PlatformError('volume.invalid', `A volume may hold ${most} bytes at most here.`, {
      hint: 'Ask for less, or ask an admin to make it or to change its size.',
    });
  }

  /** What runs is replaced; what rests gets it with its next start. */
  async function apply(
    app: App,
    mounts: readonly ReleaseMount[],
    set: App['settings']['mounts'],
    by: string,
    say: Say,
  ) {
    const remember = async (tx: StoreWriter): Promise<void> => {
      const { settings: current } = await demandApp(tx, app.name);
      await tx.updateApp(app.name, { settings: { ...current, mounts: set } });
    };
    const serving = await servingOf(app);
    if (serving === null) return store.transact(remember);
    const { number: _number, ...same } = serving;
    const settingsThen = { ...serving.settings, mounts: set };
    const createdAt = now().toISOString();
    const release: NewRelease = { ...same, mounts, settings: settingsThen, reason: 'volume', by, createdAt };
    if (app.desired === 'stopped') {
      say(`---- The app "${app.name}" is stopped; it takes effect with its next start ----`);
      return store.transact(async (tx) => {
        const [newest] = await tx.releases(app.name, 1);
        const number = (newest?.number ?? 0) + 1;
        await demandVolumes(tx, release, wantedCounts(release, { desired: 'running', stoppedProcesses: [] }));
        await tx.insertRelease({ ...release, number });
        await tx.updateApp(app.name, { release: number });
        await remember(tx);
      });
    }
    say(`---- Restarting the app "${app.name}" ----`);
    await replaceUnits(rollouts, {
      app,
      release,
      reason: 'volume',
      by,
      say,
      onStep: async (tx, { state }) => {
        if (state === 'routing') await remember(tx);
      },
    });
  }

  return {
    async create(caller, appName, input) {
      demand(caller, 'volume.create', { app: await demandApp(store, appName) });
      const name = checkVolumeName(input.name);
      const maxBytes = sizeFor(caller, input.maxBytes);
      const by = callerName(caller);
      return doing(caller, 'volume.create', appName, name, async (app) => {
        const isSingle = input.isSingle ?? false;
        const at = now().toISOString();
        const volume: Volume = { app: app.name, name, maxBytes, isSingle, state: 'ready', by, createdAt: at };
        await demandPlaceFor(store, app.name, name);
        // Before its record, so that no release ever names a volume without a directory.
        await host.create(volume);
        await host.hold(volume, volume.maxBytes);
        await store.transact(async (tx) => {
          await demandPlaceFor(tx, app.name, name);
          await tx.insertVolume(volume);
        });
        await journal.note(appName, `${by} made the volume ${name}`);
        return view(app, name);
      });
    },

    async list(caller, appName) {
      const app = await demandApp(store, appName);
      demand(caller, 'volume.list', { app });
      const serving = await servingOf(app);
      const views: VolumeView[] = [];
      for (const volume of await store.volumes(appName)) views.push(await viewOf(volume, app, serving));
      return views;
    },

    async info(caller, appName, name) {
      const app = await demandApp(store, appName);
      demand(caller, 'volume.list', { app });
      return view(app, name);
    },

    async update(caller, appName, name, { maxBytes, isSingle }) {
      demand(caller, 'volume.update', { app: await demandApp(store, appName) });
      const bytes = maxBytes === undefined ? undefined : sizeFor(caller, maxBytes);
      return doing(caller, 'volume.update', appName, name, async (app) => {
        const serving = await servingOf(app);
        await store.transact(async (tx) => {
          if ((await tx.volume(appName, name)) === null) throw volumeNotFound(appName, name);
          const change = {
            ...(bytes !== undefined && { maxBytes: bytes }),
            ...(isSingle !== undefined && { isSingle }),
          };
          if (Object.keys(change).length > 0) await tx.updateVolume(appName, name, change);
          if (serving !== null) await demandVolumes(tx, serving, wantedCounts(serving, app));
        });
        await journal.note(appName, `${callerName(caller)} changed the volume ${name}`);
        return view(app, name);
      });
    },

    async mount(caller, appName, name, request, say) {
      demand(caller, 'volume.mount', { app: await demandApp(store, appName) });
      const path = checkMountPath(request.path);
      const processes = [...new Set((request.processes ?? []).map(checkProcessName))].sort();
      const by = callerName(caller);
      await doing(caller, 'volume.mount', appName, `${name} ${path}`, async (app) => {
        const volume = await demandVolume(appName, name);
        if (volume.state !== 'ready') throw volumeNotFound(appName, name);
        const serving = await servingOf(app);
        for (const process of processes) demandKnown(serving, process);
        const set = { ...app.settings.mounts, [name]: { path, processes } };
        const mounts = mergedMounts(serving, set);
        const { supports } = provisioner.at(await placementFor(store, app));
        demandMountable({ mounts, image: serving?.image ?? '' }, supports);
        if (volume.isSingle)
          say(
            `---- ${name} has one writer: its unit is ended before the next one starts, at every restart and deploy ----`,
          );
        await apply(app, mounts, set, by, say);
        const when = serving === null ? ', from the first deploy on' : '';
        say(`---- The volume ${name} is mounted at ${path}${when} ----`);
        await journal.note(appName, `${by} mounted the volume ${name} at ${path}`);
      });
    },

    async unmount(caller, appName, name, say) {
      const by = callerName(caller);
      await doing(caller, 'volume.unmount', appName, name, async (app) => {
        await demandVolume(appName, name);
        const serving = await servingOf(app);
        const { [name]: was, ...set } = app.settings.mounts;
        const serves = serving?.mounts.find(({ volume }) => volume === name);
        if (was === undefined && serves === undefined) throw notMounted(appName, name);
        if (was === undefined)
          throw mounted(name, 'is mounted by the file of the app', 'Take it out of tancho.yaml and push.');
        await apply(app, mergedMounts(serving, set), set, by, say);
        say(`---- The volume ${name} is mounted no more; what it holds stays ----`);
        await journal.note(appName, `${by} unmounted the volume ${name}`);
      });
    },

    remove: (caller, appName, name) =>
      doing(caller, 'volume.remove', appName, name, async (app) => {
        await demandVolume(appName, name);
        await store.transact(async (tx) => {
          const current = await demandApp(tx, appName);
          const serving = current.release === null ? null : await tx.release(appName, current.release);
          const isServed = serving?.mounts.some(({ volume }) => volume === name) ?? false;
          if (isServed || name in current.settings.mounts) {
            throw mounted(name, 'is mounted', `Unmount it first: tancho volume unmount ${name} -a ${app.name}`);
          }
          await tx.updateVolume(appName, name, { state: 'removing' });
        });
        await removeVolume({ store, host }, { app: appName, name });
        await journal.note(appName, `${callerName(caller)} removed the volume ${name} with what it held`);
      }),
  };
}

/** What the app's file says stays; what was set before goes by what is set now. */
function mergedMounts(serving: Release | null, set: App['settings']['mounts']): ReleaseMount[] {
  const declared = (serving?.mounts ?? []).filter(({ from }) => from === 'file');
  return releaseMounts(set, Object.fromEntries(declared.map(({ volume, ...mount }) => [volume, mount])));
}

function demandKnown(serving: Release | null, process: Mount['processes'][number]): void {
  if (serving === null || process in serving.processes) return;
  throw new PlatformError('process.not_found', `The app has no process called ${process}.`, {
    hint: `The processes are: ${Object.keys(serving.processes).join(', ')}.`,
  });
}

function mounted(name: string, how: string, hint: string): PlatformError {
  return new PlatformError('volume.mounted', `The volume ${name} ${how}.`, { hint });
}

function notMounted(app: string, name: string): PlatformError {
  return new PlatformError('volume.not_mounted', `The volume ${name} of ${app} is not mounted.`, {
    hint: `To mount it: tancho volume mount ${name} <path> -a ${app}`,
  });
}
