/** Deploys (specification 4.10). */
import { Type } from '../schema.ts';
import { PlatformError } from '../../domain/errors.ts';
import { empty, json, type Operation, progress, upload } from '../operation.ts';
import { appParams, queryText } from './fields.ts';
import { OPTIONS_BODY, readOptions } from './options-input.ts';

const section = '4.10';

const UPLOAD_FORM = Type.Object({
  file: Type.Optional(Type.String()),
  message: queryText,
  origin: queryText,
  user: queryText,
  commit: queryText,
  image: queryText,
  'archive-url': queryText,
});

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
    isSlow: true,
    params: Type.Object({ deploy: Type.String() }),
    shape: 'deploy',
    errors: ['deploy.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.deploys.info(caller, params.deploy),
  }),
  upload({
    id: 'deploys.create',
    section: null,
    summary: 'Deploy an archive of the source, or an image.',
    method: 'POST',
    path: '/apps/:app/deploy',
    also: [{ method: 'POST', path: '/apps/:app/repository/clone' }],
    access: 'token',
    params: appParams,
    query: Type.Object({ origin: queryText, message: queryText, user: queryText, commit: queryText }),
    rawBody: { mediaType: 'multipart/form-data', schema: UPLOAD_FORM },
    errors: [
      'app.not_found',
      'access.denied',
      'app.busy',
      'deploy.invalid_source',
      'deploy.failed',
      'unsupported',
      'cancelled',
      'input.invalid_json',
    ],
    handle: async ({ useCases, caller, signal }, { params, query }, pending, say) => {
      await useCases.uploads.available(caller, params.app);
      const body = await pending.read();
      const given = (name: keyof typeof query): string => body.field(name) || (query[name] ?? '');
      const image = body.field('image');
      if (body.archive === null && image !== '') {
        const by = { user: given('user'), origin: given('origin') };
        await useCases.uploads.image(caller, params.app, image, by, say, signal);
        return;
      }
      const details = () => ({
        message: given('message'),
        user: given('user'),
        origin: given('origin'),
        commit: given('commit'),
      });
      const url = body.field('archive-url');
      if (body.archive === null && url !== '') {
        await useCases.uploads.fetched(caller, params.app, url, details(), say, signal);
        return;
      }
      const archive = body.archive ?? refuseWithoutFile(body.field('version'));
      await useCases.uploads.archive(caller, params.app, { archive, details }, say, signal);
    },
  }),
  empty({
    id: 'deploys.available',
    section: null,
    summary: 'Say whether the caller may deploy to an app.',
    method: 'GET',
    path: '/apps/:app/available',
    access: 'token',
    params: appParams,
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.uploads.available(caller, params.app),
  }),
  json({
    id: 'deploys.cancel',
    section: null,
    summary: 'Cancel a deploy that does not serve yet.',
    method: 'POST',
    path: '/apps/:app/deploy/cancel',
    access: 'user',
    params: appParams,
    query: Type.Object({ deploy: queryText }),
    rawBody: OPTIONS_BODY,
    shape: 'deploy',
    errors: [
      'app.not_found',
      'access.denied',
      'deploy.not_found',
      'deploy.over',
      'deploy.ambiguous',
      'input.invalid_json',
    ],
    handle: async ({ useCases, caller }, { params, query, body }) => {
      const { deploy } = readOptions(body, query, ['deploy']);
      const { id } = await useCases.deploys.cancel(caller, params.app, deploy);
      return useCases.deploys.info(caller, id);
    },
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

function refuseWithoutFile(version: string): never {
  throw new PlatformError('input.invalid', 'you must specify either the version, the archive-url or upload a file', {
    hint:
      version === ''
        ? 'Send the archive (tar.gz) as the part "file" of a multipart form, or with Content-Type: application/gzip.'
        : 'A version that is in the repository is deployed by pushing it: git push tancho HEAD:main',
  });
}

function count(name: 'limit' | 'skip', value: string | undefined): { limit?: number; skip?: number } {
  if (value === undefined || value === '') return {};
  if (/^\d{1,9}$/.test(value)) return { [name]: Number(value) };
  throw new PlatformError('input.invalid', `Parameter "${name}" must be an integer.`, { hint: 'Use a whole number.' });
}
