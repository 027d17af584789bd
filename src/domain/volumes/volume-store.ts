import type { Volume } from './volume.ts';

export interface VolumeReader {
  /** Sorted by app and name. `app` absent: of all apps. */
  volumes(app?: string): Promise<Volume[]>;
  volume(app: string, name: string): Promise<Volume | null>;
}

export interface VolumeWriter {
  /** Throws PlatformError `volume.name_taken`, `app.not_found`. */
  insertVolume(volume: Volume): Promise<void>;
  updateVolume(
    app: string,
    name: string,
    change: Partial<Pick<Volume, 'maxBytes' | 'isSingle' | 'state'>>,
  ): Promise<void>;
  deleteVolume(app: string, name: string): Promise<void>;
}
