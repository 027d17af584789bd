/** Platforms (specification 4.6). */
import { json, type Operation } from '../operation.ts';

export const platformOperations: readonly Operation[] = [
  json({
    id: 'platforms.list',
    section: '4.6',
    summary: 'List the platforms apps can be made for.',
    method: 'GET',
    path: '/platforms',
    access: 'user',
    shape: 'platforms',
    errors: [],
    handle: ({ useCases, caller }) => useCases.platforms.list(caller),
  }),
];
