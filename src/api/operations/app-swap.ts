/** Two apps exchange their addresses (specification 4.1, /swap). */
import { Type } from '../schema.ts';
import { readFlag } from '../body.ts';
import { empty, type Operation } from '../operation.ts';
import { queryText } from './fields.ts';
import { OPTIONS_BODY, readOptions } from './options-input.ts';

export const appSwapOperations: readonly Operation[] = [
  empty({
    id: 'apps.swap',
    section: '4.1',
    summary: 'Exchange the addresses of two apps; doing it again undoes it.',
    method: 'PUT',
    path: '/swap',
    also: [{ method: 'POST', path: '/swap' }],
    access: 'user',
    query: Type.Object({ app1: queryText, app2: queryText, force: queryText, cnameOnly: queryText }),
    rawBody: OPTIONS_BODY,
    errors: ['app.not_found', 'access.denied', 'app.busy', 'app.swapped', 'app.swap_mismatch', 'input.invalid_json'],
    handle: async ({ useCases, caller }, { query, body }) => {
      const { app1, app2, ...flags } = readOptions(body, query, ['app1', 'app2', 'force', 'cnameOnly']);
      const options = {
        // The published operation knows no force: it swaps.
        force: flags.force === '' || readFlag('force', flags.force),
        cnameOnly: readFlag('cnameOnly', flags.cnameOnly),
      };
      await useCases.swap.swap(caller, app1, app2, options);
    },
  }),
];
