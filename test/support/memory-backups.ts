/** Backups for tests of the API alone: there is one, and one more with each that is asked for. */
import { demand } from '../../src/domain/access.ts';
import type { Backup } from '../../src/domain/backups/backup-store.ts';
import type { Backups } from '../../src/domain/backups/backups.ts';

export function backupsIn(): Backups {
  const made: Backup[] = [];
  const make = (): Backup => {
    const name = `tancho-20260101T00000000${made.length}Z`;
    const backup = { name, madeAt: `2026-01-01T00:00:00.00${made.length}Z`, bytes: 4096, version: '0.1.0' };
    made.unshift(backup);
    return backup;
  };
  make();
  return {
    async list(caller) {
      demand(caller, 'backup.list');
      const at = made[0]?.madeAt ?? '';
      const state = { triedAt: at, succeededAt: at, problem: '' };
      const nextAt = '2026-01-02T00:00:00.000Z';
      return { place: '/srv/backups', everySeconds: 86_400, keep: 7, state, nextAt, backups: made };
    },
    async make(caller, say) {
      demand(caller, 'backup.create');
      say(`${make().name}: 1 MiB`);
    },
  };
}
