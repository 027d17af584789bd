/** What looks at the whole platform again and again, and says what it finds, or copies it. */
import { AlertWatch } from '../domain/alerts/alert-watch.ts';
import { BackupMaker } from '../domain/backups/backup-maker.ts';
import type { DiskSurvey } from '../domain/disk/disk-survey.ts';
import { DiskWatch } from '../domain/disk/disk-watch.ts';
import { UnitSizes } from '../domain/disk/unit-sizes.ts';
import { VolumeWatch } from '../domain/disk/volume-watch.ts';

export interface Watches {
  readonly unitSizes: UnitSizes;
  readonly diskWatch: DiskWatch;
  readonly alertWatch: AlertWatch;
  readonly backupMaker: BackupMaker;
  readonly volumeWatch: VolumeWatch;
}

type WatchesDeps = Omit<ConstructorParameters<typeof UnitSizes>[0], 'survey'> &
  ConstructorParameters<typeof DiskWatch>[0] &
  ConstructorParameters<typeof AlertWatch>[0] &
  ConstructorParameters<typeof BackupMaker>[0] &
  ConstructorParameters<typeof VolumeWatch>[0] & { readonly diskSurvey: DiskSurvey };

export function createWatches(deps: WatchesDeps): Watches {
  return {
    unitSizes: new UnitSizes({ ...deps, survey: deps.diskSurvey }),
    diskWatch: new DiskWatch(deps),
    alertWatch: new AlertWatch(deps),
    backupMaker: new BackupMaker(deps),
    volumeWatch: new VolumeWatch(deps),
  };
}
