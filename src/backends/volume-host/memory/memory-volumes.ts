/** Test support: volumes as sets of bytes in this process. */
import { type SizeLimit, type VolumeHost, volumePath } from '../../../domain/volumes/volume-host.ts';

export class MemoryVolumes implements VolumeHost {
  /** `<app>/<name>` -> bytes, as a test says; null: they cannot be counted in time. */
  readonly sizes = new Map<string, number | null>();

  /** What is found after long of one that cannot be counted in time. */
  readonly late = new Map<string, Promise<number>>();

  async create(volume: Parameters<VolumeHost['create']>[0]): Promise<void> {
    this.sizes.set(volumePath(volume), this.sizes.get(volumePath(volume)) ?? 0);
  }

  /** `<app>/<name>` -> bytes. */
  readonly held = new Map<string, number>();

  async hold(volume: Parameters<VolumeHost['hold']>[0], maxBytes: number): Promise<void> {
    this.held.set(volumePath(volume), maxBytes);
  }

  /** `<app>/<name>`. */
  readonly restricted = new Set<string>();

  async restrict(volume: Parameters<VolumeHost['restrict']>[0], isReadOnly: boolean): Promise<void> {
    if (isReadOnly) this.restricted.add(volumePath(volume));
    else this.restricted.delete(volumePath(volume));
  }

  async isRestricted(volume: Parameters<VolumeHost['isRestricted']>[0]): Promise<boolean> {
    return this.restricted.has(volumePath(volume));
  }

  async size(volume: Parameters<VolumeHost['size']>[0], limit: SizeLimit = {}): Promise<number | null> {
    const bytes = this.sizes.get(volumePath(volume));
    if (bytes === null && limit.withinMs !== undefined) return (await this.late.get(volumePath(volume))) ?? null;
    return bytes === undefined ? 0 : bytes;
  }

  async remove(volume: Parameters<VolumeHost['remove']>[0]): Promise<void> {
    this.sizes.delete(volumePath(volume));
    this.restricted.delete(volumePath(volume));
  }
}
