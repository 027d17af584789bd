/** Volumes that the file of an app names are made with the first deploy that names them. What people change about them later stays. */
import type { Settings } from '../settings.ts';
import type { Say } from '../say.ts';
import type { Store } from '../store.ts';
import { PlatformError } from '../errors.ts';
import type { DeclaredVolume, Volume } from './volume.ts';
import { demandPlaceFor } from './volume-count.ts';
import type { VolumeHost } from './volume-host.ts';

interface DeclareDeps {
  readonly store: Store;
  readonly volumeHost: VolumeHost;
  readonly settings: Pick<Settings, 'volumeMaxBytes'>;
  readonly now: () => Date;
}

interface Declaration {
  readonly app: string;
  readonly declared: Readonly<Record<string, DeclaredVolume>>;
  readonly by: string;
  readonly say: Say;
}

/** With the app's lease. Throws `quota.exceeded`, `volume.invalid` for one that is larger than it may be. */
export async function makeDeclared(deps: DeclareDeps, { app, declared, by, say }: Declaration): Promise<void> {
  const { store, volumeHost, settings, now } = deps;
  const most = settings.volumeMaxBytes;
  const known = new Map((await store.volumes(app)).map((volume) => [volume.name, volume]));
  for (const [name, { maxBytes = most, isSingle = false, path }] of Object.entries(declared)) {
    const there = known.get(name);
    if (there !== undefined) {
      warnOfDifferences(there, declared[name], say);
      continue;
    }
    if (most > 0 && (maxBytes === 0 || maxBytes > most)) {
      throw new PlatformError('volume.invalid', `The volume ${name} may hold ${most} bytes at most here.`, {
        hint: 'Ask for less in tancho.yaml, or ask an admin to make the volume.',
      });
    }
    await demandPlaceFor(store, app, name);
    const volume: Volume = { app, name, maxBytes, isSingle, state: 'ready', by, createdAt: now().toISOString() };
    await volumeHost.create(volume);
    await volumeHost.hold(volume, volume.maxBytes);
    await store.transact(async (tx) => {
      await demandPlaceFor(tx, app, name);
      await tx.insertVolume(volume);
    });
    say(`-----> Made the volume ${name}, mounted at ${path}`);
  }
}

function warnOfDifferences(there: Volume, declared: DeclaredVolume | undefined, say: Say): void {
  const { maxBytes = there.maxBytes, isSingle = there.isSingle } = declared ?? {};
  if (maxBytes === there.maxBytes && isSingle === there.isSingle) return;
  say(
    ` !     The volume ${there.name} is there already, with another size or mode than the file says; it stays as it is.`,
  );
  say(`       To change it: tancho volume update ${there.name} -a ${there.app}`);
}
