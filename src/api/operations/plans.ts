/** Plans; beyond the specification, for the clients that ask for them. */
import { json, type Operation } from '../operation.ts';

export const planOperations: readonly Operation[] = [
  json({
    id: 'plans.list',
    section: null,
    summary: 'List the plans: on this platform one, which every app has.',
    method: 'GET',
    path: '/plans',
    access: 'user',
    shape: 'plans',
    errors: [],
    handle: ({ useCases, caller }) => useCases.plans.list(caller),
  }),
];
