/** From new code to something that can run, in a build slot of this machine: an image is pulled, source is built. */
import type { App, EnvVar } from '../apps/app.ts';
import { demandRoom, type DiskRoomDeps } from '../disk/disk-room.ts';
import type { AppSettings } from '../apps/app-settings.ts';
import { loginsOf } from '../registries/registry-login.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import { envRecord } from '../units/unit-spec.ts';
import type { BuildSlots } from './build-slots.ts';
import type { Artifact, Builder, SourceTree } from './builder.ts';
import type { NewCode } from './deploy.ts';
import type { QueuedDeploy } from './deploy-queue.ts';
import type { ImageName } from './image-name.ts';
import type { ImageSource } from './image-source.ts';

export interface MakeDeps extends DiskRoomDeps {
  readonly store: Store;
  readonly builder: Builder;
  readonly imageSource: ImageSource;
  readonly slots: BuildSlots;
}

interface MakeRequest {
  readonly queued: QueuedDeploy;
  /** Whose slots these are. */
  readonly owner: string;
  readonly code: NewCode;
  readonly say: Say;
  /** Called when the slot is there; answers the app as it is to be built. */
  readonly begin: () => Promise<{ readonly app: App; readonly env: readonly EnvVar[] }>;
}

type Begun = Awaited<ReturnType<MakeRequest['begin']>>;

export interface Made {
  readonly made: Artifact;
  /** As Deploy.image. */
  readonly image: string;
  /** Of the app, with which it was made. */
  readonly settings: AppSettings;
  /** False: releases name it, so it is not to be thrown away with a deploy that fails. */
  readonly isNew: boolean;
}

/** Rejects with the reason of the signal while it waits; else as Builder.build and ImageSource.pull. */
export async function makeArtifact(deps: MakeDeps, request: MakeRequest): Promise<Made> {
  const { queued, owner, code, say } = request;
  const { signal } = queued;
  const onWait = (builds: number): void => {
    queued.waitsFor = builds === 1 ? 'waiting for 1 build' : `waiting for ${builds} builds`;
    say(`-----> ${queued.waitsFor} to end`);
  };
  return deps.slots.run({ owner, signal, onWait }, async () => {
    queued.waitsFor = '';
    queued.stage = 'building';
    const begun = await request.begin();
    await demandRoom(deps);
    for (const note of code.notes ?? []) say(note);
    if ('image' in code) return pull(deps, request, begun, code.image);
    const made = await build(deps, request, begun, code.source);
    return { made, image: '', settings: begun.app.settings, isNew: true };
  });
}

async function pull(deps: MakeDeps, { queued, say }: MakeRequest, { app }: Begun, image: ImageName): Promise<Made> {
  const { store, imageSource } = deps;
  say(`-----> Pulling ${image.full}`);
  const kept = [...new Set((await store.artifacts([app.name])).map(({ artifact }) => artifact))];
  const commands = app.settings.startCommands;
  const logins = loginsOf(await store.registryLogins(), app.teamOwner);
  const request = { app: app.name, deployId: queued.id, image, kept, commands, logins };
  const made = await imageSource.pull(request, (line) => say(`       ${line}`), queued.signal);
  return { made, image: made.image, settings: app.settings, isNew: made.isNew };
}

async function build(
  deps: MakeDeps,
  { queued, say }: MakeRequest,
  { app, env }: Begun,
  source: SourceTree,
): Promise<Artifact> {
  const records = await deps.store.platformRecords();
  const added = records.flatMap(({ name, definition }) => (definition === null ? [] : [[name, definition] as const]));
  say(`-----> Building ${app.name} (${app.platform})`);
  const wanted = {
    app: app.name,
    deployId: queued.id,
    platform: app.platform,
    added: Object.fromEntries(added),
    disabled: records.filter(({ isDisabled }) => isDisabled).map(({ name }) => name),
    source,
    settings: app.settings,
    registryLogins: loginsOf(await deps.store.registryLogins(), app.teamOwner),
    env: envRecord(env),
    privateEnv: env.filter((variable) => !variable.public).map((variable) => variable.name),
  };
  return deps.builder.build(wanted, (line) => say(`       ${line}`), queued.signal);
}
