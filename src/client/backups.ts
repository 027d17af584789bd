/** Backups of the platform. */
import type { Progress } from './calls.ts';
import type { Requests } from './requests.ts';
import type * as shapes from './shapes.ts';

export interface BackupsClient {
  list(): Promise<shapes.BackupsShape>;
  make(progress: Progress): Promise<void>;
}

export function backupsClient({ request, progress: during }: Requests): BackupsClient {
  return {
    list: () => request('backups.list'),
    make: (progress) => during('backups.make', {}, progress),
  };
}
