/**
 * Use cases of deploys that come in a request instead of a push: an archive, or the name of an image. An archive becomes a
 * commit of the app's repository first, so that everything after it (build, diff, rollback) is as after a push.
 */
import { demand } from '../access.ts';
import { demandApp } from '../demand-app.ts';
import { placementFor } from '../pools/placement.ts';
import type { PoolReader } from '../pools/pool-store.ts';
import type { EngineFacts, Engines } from '../units/engines.ts';
import type { App } from '../apps/app.ts';
import type { AppReader } from '../apps/app-store.ts';
import { type Caller, callerName } from '../caller.ts';
import { demandRoom, type DiskRoomDeps } from '../disk/disk-room.ts';
import { PlatformError } from '../errors.ts';
import type { Say } from '../say.ts';
import type { ArchiveSource } from './archive-source.ts';
import type { Deploy, DeployOrigin } from './deploy.ts';
import type { Deploys } from './deploys.ts';
import type { GitHost } from './git-host.ts';
import { parseImageName } from './image-name.ts';

interface UploadDetails {
  /** Why; becomes the message of the commit. */
  readonly message: string;
  /** Who an app token deploys for; from users it is ignored. */
  readonly user: string;
  /** `app-deploy`, `drag-and-drop` or `git`; '' is derived from `commit`. */
  readonly origin: string;
  /** The caller's own name for the version. */
  readonly commit: string;
}

interface Upload {
  readonly archive: AsyncIterable<Uint8Array>;
  /** Asked when the archive was read: a form may say more after the file. */
  readonly details: () => UploadDetails;
}

export interface Uploads {
  /**
   * The way of Deploys.deploy for a tar file, gzipped or not. Errors: those of deploy, and deploy.invalid_source,
   * input.too_large, input.invalid.
   */
  archive(caller: Caller, app: string, upload: Upload, say: Say, signal: AbortSignal): Promise<Deploy>;
  /** As archive(), for one that lies at an address. Errors: those of archive and ArchiveSource. */
  fetched(
    caller: Caller,
    app: string,
    url: string,
    details: UploadDetails,
    say: Say,
    signal: AbortSignal,
  ): Promise<Deploy>;
  /** The way of Deploys.deploy for an image in a registry. Errors: those of deploy, and input.invalid; unsupported, where units do not run images. */
  image(
    caller: Caller,
    app: string,
    image: string,
    details: Omit<UploadDetails, 'message' | 'commit'>,
    say: Say,
    signal: AbortSignal,
  ): Promise<Deploy>;
  /** Whether the caller may deploy to the app now. Errors: app.not_found, access.denied. */
  available(caller: Caller, app: string): Promise<void>;
}

interface UploadsDeps extends DiskRoomDeps {
  readonly store: Pick<AppReader, 'app'> & Pick<PoolReader, 'pool'>;
  readonly gitHost: Pick<GitHost, 'create' | 'importArchive' | 'source'>;
  readonly deploys: Pick<Deploys, 'deploy'>;
  readonly archiveSource: ArchiveSource;
  readonly provisioner: Pick<Engines, 'at'>;
}

const ORIGINS: readonly DeployOrigin[] = ['app-deploy', 'drag-and-drop', 'git'];
const MAX_NAME = 200;
const MAX_MESSAGE = 10_000;

export function createUploads(deps: UploadsDeps): Uploads {
  const { store, gitHost, deploys, archiveSource, provisioner } = deps;

  async function allowed(caller: Caller, appName: string): Promise<App> {
    const app = await demandApp(store, appName);
    demand(caller, 'app.deploy', { app });
    return app;
  }

  async function archive(
    caller: Caller,
    appName: string,
    upload: Upload,
    say: Say,
    signal: AbortSignal,
  ): Promise<Deploy> {
    await allowed(caller, appName);
    await demandRoom(deps);
    // The repository is made by the first push otherwise.
    await gitHost.create(appName);
    const { archive: bytes, details } = upload;
    const message = (): string => messageOf(checked(details()));
    const imported = await gitHost.importArchive(appName, { bytes, message, by: callerName(caller), signal });
    const { user, origin, commit: given } = checked(details());
    const { commit, files, notes } = imported;
    const code = {
      source: gitHost.source(appName, commit),
      commit,
      origin: origin === '' ? (given === '' ? 'app-deploy' : 'git') : (origin as DeployOrigin),
      action: 'app.deploy',
      notes: [`-----> Received ${files} ${files === 1 ? 'file' : 'files'} (${size(imported.bytes)})`, ...notes],
      ...(caller.kind === 'app' && user !== '' ? { by: user } : {}),
    } as const;
    return deploys.deploy(caller, appName, code, say, signal);
  }

  return {
    archive,
    async fetched(caller, appName, url, details, say, signal) {
      await allowed(caller, appName);
      return archive(
        caller,
        appName,
        { archive: archiveSource.open(url, signal), details: () => details },
        say,
        signal,
      );
    },

    async image(caller, appName, image, details, say, signal) {
      const engine = provisioner.at(await placementFor(store, await allowed(caller, appName)));
      if (!engine.supports.images) throw noImages(engine);
      const { user } = checked({ ...details, message: '', commit: '' }, ['image']);
      const code = {
        image: parseImageName(image),
        commit: '',
        origin: 'image',
        action: 'app.deploy',
        ...(caller.kind === 'app' && user !== '' ? { by: user } : {}),
      } as const;
      return deploys.deploy(caller, appName, code, say, signal);
    },

    async available(caller, appName) {
      await allowed(caller, appName);
    },
  };
}

function noImages({ description }: EngineFacts): PlatformError {
  return new PlatformError(
    'unsupported',
    `This server cannot run images: its units have no root file system of their own (${description}).`,
    {
      hint: 'An operator can install bubblewrap on the server and restart it. Or deploy the source: "git push tancho HEAD:main", or "tancho deploy ." in its directory.',
    },
  );
}

/** Throws `input.invalid`. */
function checked(details: UploadDetails, origins: readonly DeployOrigin[] = ORIGINS): UploadDetails {
  const { user, origin, commit } = details;
  if (origin !== '' && !origins.some((known) => known === origin)) {
    throw new PlatformError('input.invalid', `Such a deploy cannot have the origin "${origin.slice(0, MAX_NAME)}".`, {
      hint: `Use ${origins.length > 1 ? 'one of ' : ''}${origins.join(', ')}, or none.`,
    });
  }
  for (const [name, value] of Object.entries({ user, commit })) {
    if (value.length > MAX_NAME || /[\p{Cc}<>]/u.test(value)) {
      throw new PlatformError('input.invalid', `"${name}" is too long or has characters that are not printed.`, {
        hint: `Send at most ${MAX_NAME} characters, without < and >.`,
      });
    }
  }
  return details;
}

function messageOf({ message, commit }: UploadDetails): string {
  const text = message.slice(0, MAX_MESSAGE).replaceAll('\0', '').trim();
  return [text === '' ? 'Upload' : text, ...(commit === '' ? [] : [`Version: ${commit}`])].join('\n\n');
}

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kib = bytes / 1024;
  return kib < 1024 ? `${Math.ceil(kib)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}
