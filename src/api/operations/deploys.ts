/** Deploys (specification 4.10). */
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import { json, type Operation, progress } from '../operation.ts';
import { appParams, queryText } from './fields.ts';
import { OPTIONS_BODY, readOptions } from './options-input.ts';

const section = '4.10';

export const deployOperations: readonly Operation[] = [
  json({
    id: 'deploys.list',
    section,
    summary: 'List deploys, newest first.',
    method: 'GET',
    path: '/deploys',
    access: 'user',
    query: Type.Object({ app: queryText, service: queryText, limit: queryText, skip: queryText }),
    shape: 'deploys',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { query }) =>
      useCases.deploys.list(caller, {
        ...(query.app && { app: query.app }),
        ...(query.service && { service: query.service }),
        ...count('limit', query.limit),
        ...count('skip', query.skip),
      }),
  }),
  json({
    id: 'deploys.info',
    section,
    summary: 'Show one deploy with its log.',
    method: 'GET',
    path: '/deploys/:deploy',
    access: 'user',
    params: Type.Object({ deploy: Type.String() }),
    shape: 'deploy',
    errors: ['deploy.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.deploys.info(caller, params.deploy),
  }),
  progress({
    id: 'deploys.rollback',
    section: null,
    summary: 'Go back: a new release equal to an older one, in code, environment and processes.',
    method: 'POST',
    path: '/apps/:app/deploy/rollback',
    access: 'user',
    params: appParams,
    query: Type.Object({ image: queryText, origin: queryText }),
    rawBody: OPTIONS_BODY,
    errors: [
      'app.not_found',
      'access.denied',
      'app.busy',
      'app.not_deployed',
      'release.not_found',
      'deploy.failed',
      'input.invalid_json',
    ],
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const { image } = readOptions(body, query, ['image']);
      await useCases.deploys.rollback(caller, params.app, image, say);
    },
  }),
];

function count(name: 'limit' | 'skip', value: string | undefined): { limit?: number; skip?: number } {
  if (value === undefined || value === '') return {};
  if (/^\d{1,9}$/.test(value)) return { [name]: Number(value) };
  throw new PlatformError('input.invalid', `Parameter "${name}" must be an integer.`, { hint: 'Use a whole number.' });
}
