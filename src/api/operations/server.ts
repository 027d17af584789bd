/** How the platform itself is, for operators. */
import { json, type Operation } from '../operation.ts';

export const serverOperations: readonly Operation[] = [
  json({
    id: 'server.disk',
    section: null,
    summary: 'Show how full the disk of the platform is, and who holds what of it; for admins.',
    method: 'GET',
    path: '/disk',
    access: 'user',
    isSlow: true,
    shape: 'disk',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.diskUse.report(caller),
  }),
  json({
    id: 'server.health',
    section: null,
    summary:
      'Show how the platform itself is: versions, processes with their memory, the machine, the disk, unfinished deploys; for admins.',
    method: 'GET',
    path: '/health',
    access: 'user',
    shape: 'health',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.health.report(caller),
  }),
];
