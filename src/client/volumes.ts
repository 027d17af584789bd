/** Volumes of apps: directories that stay when units go. */
import type { Progress } from './calls.ts';
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface VolumesClient {
  /** With what they hold, so it takes as long as counting their files. */
  list(app: string): Promise<readonly shapes.VolumeShape[]>;
  info(app: string, volume: string): Promise<shapes.VolumeShape>;
  create(app: string, volume: shapes.NewVolume): Promise<shapes.VolumeShape>;
  update(app: string, volume: string, change: Omit<shapes.NewVolume, 'name'>): Promise<shapes.VolumeShape>;
  mount(app: string, volume: string, mount: shapes.VolumeMount, progress?: Progress): Promise<void>;
  unmount(app: string, volume: string, progress?: Progress): Promise<void>;
  remove(app: string, volume: string): Promise<void>;
}

export function volumesClient({ request, progress: during }: Requests): VolumesClient {
  return {
    list: (app) => request('volumes.list', { params: { app } }),
    info: (app, volume) => request('volumes.info', { params: { app, volume } }),
    create: (app, body) => request('volumes.create', { params: { app }, body }),
    update: (app, volume, body) => request('volumes.update', { params: { app, volume }, body }),
    mount: (app, volume, body, progress = {}) => during('volumes.mount', { params: { app, volume }, body }, progress),
    unmount: (app, volume, progress = {}) => during('volumes.unmount', { params: { app, volume } }, progress),
    remove: (app, volume) => request('volumes.remove', { params: { app, volume } }),
  };
}
