/** Use cases of backups: which there are, and one more. */
import { demand } from '../access.ts';
import type { Act } from '../act.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { Store } from '../store.ts';
import type { BackupMaker } from './backup-maker.ts';
import { type BackupState, backupStateIn, dueAtMs } from './backup-state.ts';
import type { Backup, BackupStore } from './backup-store.ts';

export interface BackupsView {
  /** '' where none are made. */
  readonly place: string;
  /** Seconds; 0: only when somebody asks. */
  readonly everySeconds: number;
  readonly keep: number;
  readonly state: BackupState;
  /** When the next one is made by itself, ISO 8601 UTC; '' where none is. */
  readonly nextAt: string;
  /** Newest first. */
  readonly backups: readonly Backup[];
}

export interface Backups {
  /** For admins, as all here. Errors: unavailable. */
  list(caller: Caller): Promise<BackupsView>;
  /** Goes on when the caller leaves. Errors: unsupported where no place is set; unavailable. */
  make(caller: Caller, say: (line: string) => void): Promise<void>;
}

interface BackupsDeps {
  readonly store: Pick<Store, 'setting'>;
  readonly backupStore: BackupStore | null;
  readonly maker: Pick<BackupMaker, 'make'>;
  readonly settings: { readonly backupEveryMs: number; readonly backupKeep: number };
  readonly act: Act;
  readonly now: () => Date;
}

const MIB = 1024 ** 2;

export function createBackups({ store, backupStore, maker, settings, act, now }: BackupsDeps): Backups {
  return {
    async list(caller) {
      demand(caller, 'backup.list');
      const state = await backupStateIn(store);
      const isMadeByItself = backupStore !== null && settings.backupEveryMs > 0;
      const next = new Date(Math.max(now().getTime(), dueAtMs(state, settings.backupEveryMs, now())));
      return {
        place: backupStore?.place ?? '',
        everySeconds: settings.backupEveryMs / 1_000,
        keep: settings.backupKeep,
        state,
        nextAt: isMadeByItself ? next.toISOString() : '',
        backups: (await backupStore?.list()) ?? [],
      };
    },

    make: (caller, say) =>
      act(caller, 'backup.create', {}, { target: 'backups' }, async () => {
        if (backupStore === null) {
          throw new PlatformError('unsupported', 'There is no place for backups.', {
            hint: 'Set backup.directory in config.yaml to a directory on another disk, then restart the server.',
          });
        }
        say(`Making a backup in ${backupStore.place}`);
        const { name, bytes } = await maker.make(backupStore);
        say(`${name}: ${Math.ceil(bytes / MIB)} MiB`);
      }),
  };
}
