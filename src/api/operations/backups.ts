/** Backups of the platform, for operators. Beyond the specification. */
import { json, type Operation, progress } from '../operation.ts';

export const backupOperations: readonly Operation[] = [
  json({
    id: 'backups.list',
    section: null,
    summary: 'Show which backups of the platform there are, and how the last one went; for admins.',
    method: 'GET',
    path: '/backups',
    access: 'user',
    shape: 'backups',
    errors: ['access.denied', 'unavailable'],
    handle: ({ useCases, caller }) => useCases.backups.list(caller),
  }),
  progress({
    id: 'backups.make',
    section: null,
    summary: 'Make a backup of the platform now; for admins.',
    method: 'POST',
    path: '/backups',
    access: 'user',
    errors: ['access.denied', 'unsupported', 'unavailable'],
    handle: ({ useCases, caller }, _input, say) => useCases.backups.make(caller, say),
  }),
];
