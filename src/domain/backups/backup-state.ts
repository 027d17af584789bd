/** How the last backups went, kept as a setting of the platform, so that a restart forgets nothing. */
import type { Store } from '../store.ts';

export const BACKUP_STATE_KEY = 'backups.state';

export interface BackupState {
  /** ISO 8601 UTC; '' for never. */
  readonly triedAt: string;
  readonly succeededAt: string;
  /** Why the last one failed, one sentence; '' if it did not. */
  readonly problem: string;
}

const NO_BACKUP_YET: BackupState = { triedAt: '', succeededAt: '', problem: '' };

/** After one that failed. */
const AGAIN_MS = 15 * 60_000;

/** When the next one is due, milliseconds since 1970; 0 where none was tried yet, or while the clock was ahead. */
export function dueAtMs({ triedAt, problem }: BackupState, everyMs: number, now: Date): number {
  if (triedAt === '' || Date.parse(triedAt) > now.getTime()) return 0;
  return Date.parse(triedAt) + (problem === '' ? everyMs : Math.min(everyMs, AGAIN_MS));
}

export async function backupStateIn(store: Pick<Store, 'setting'>): Promise<BackupState> {
  const text = (await store.setting(BACKUP_STATE_KEY)) ?? '';
  return text === '' ? NO_BACKUP_YET : (JSON.parse(text) as BackupState);
}
