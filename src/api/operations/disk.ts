/** The disk of the platform, for operators. */
import { json, type Operation } from '../operation.ts';

export const diskOperations: readonly Operation[] = [
  json({
    id: 'server.disk',
    section: null,
    summary: 'Show how full the disk of the platform is, and who holds what of it; for admins.',
    method: 'GET',
    path: '/disk',
    access: 'user',
    shape: 'disk',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.diskUse.report(caller),
  }),
];
