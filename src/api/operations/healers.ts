/** Healers (specification 4.5), and what they did lately. */
import { PlatformError } from '../../domain/errors.ts';
import { json, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { queryText } from './fields.ts';

const FILTERS = ['', 'node', 'container'];

export const healerOperations: readonly Operation[] = [
  json({
    id: 'healers.list',
    section: '4.5',
    summary: 'List the healers with the addresses that execute them.',
    method: 'GET',
    path: '/healers',
    access: 'user',
    shape: 'healers',
    errors: ['access.denied'],
    handle: ({ useCases, caller }) => useCases.healers.list(caller),
  }),
  json({
    id: 'healers.run',
    section: '4.5',
    summary: 'Execute a healer; answers what it found, about the apps of the caller, and what it did about it.',
    method: 'GET',
    path: '/healers/:healer',
    also: [{ method: 'POST', path: '/healers/:healer' }],
    changesState: true,
    access: 'user',
    params: Type.Object({ healer: Type.String() }),
    shape: 'healingReport',
    errors: ['access.denied', 'healer.not_found', 'healer.failed', 'app.busy'],
    handle: ({ useCases, caller }, { params }) => useCases.healers.run(caller, params.healer),
  }),
  json({
    id: 'healers.recent',
    section: null,
    summary: 'What healers did lately, newest first, at most 200; for admins.',
    method: 'GET',
    path: '/docker/healing',
    access: 'user',
    query: Type.Object({ filter: queryText }),
    shape: 'healings',
    errors: ['access.denied'],
    handle: async ({ useCases, caller }, { query: { filter = '' } }) => {
      const events = await useCases.healers.recent(caller);
      if (!FILTERS.includes(filter)) {
        throw new PlatformError('input.invalid', "invalid filter, possible values are 'node' or 'container'");
      }
      if (filter === 'node') return [];
      return filter === '' ? events : events.filter((event) => event.target.startsWith('unit:'));
    },
  }),
];
