/** Apps (specification 4.1): create, list, info, remove, restart; environment, run and log are beside this file. */
import type { AppFilter } from '../../domain/apps/apps.ts';
import { Type } from '../schema.ts';
import { readFlag } from '../body.ts';
import { json, type Operation, progress } from '../operation.ts';
import { appParams, optionalText, queryText, repeatedText } from './fields.ts';
import { planName, planText } from './app-change-input.ts';
import { OPTIONS_BODY, readOptions } from './options-input.ts';

const section = '4.1';

/** Unknown fields (memory, swap, units ... of older clients) are ignored; `framework` is the oldest name of `platform`. */
const newApp = Type.Object({
  name: optionalText,
  platform: optionalText,
  framework: optionalText,
  teamOwner: optionalText,
  description: optionalText,
  pool: optionalText,
  plan: planText,
});

export const appOperations: readonly Operation[] = [
  json({
    id: 'apps.list',
    section,
    summary: 'List the apps the caller may see.',
    method: 'GET',
    path: '/apps',
    access: 'user',
    query: Type.Object({
      name: queryText,
      platform: queryText,
      owner: queryText,
      teamOwner: queryText,
      teamowner: queryText,
      pool: queryText,
      status: repeatedText,
      locked: queryText,
    }),
    stands: true,
    shape: 'appSummaries',
    errors: [],
    handle: async ({ useCases, caller }, { query }) => {
      // An app is locked while it is removed, and then in no list.
      const found = await useCases.apps.list(caller, filterOf(query));
      return readFlag('locked', query.locked) ? [] : found;
    },
  }),
  json({
    id: 'apps.create',
    section,
    summary: 'Create an app, with its repository; nothing runs before the first deploy.',
    method: 'POST',
    path: '/apps',
    access: 'user',
    body: newApp,
    bodyInAnyCase: true,
    shape: 'appCreated',
    errors: [
      'input.invalid_json',
      'app.invalid_name',
      'app.name_taken',
      'platform.not_found',
      'platform.disabled',
      'plan.not_found',
      'pool.not_found',
      'team.required',
      'team.ambiguous',
      'team.not_found',
      'quota.exceeded',
    ],
    handle: ({ useCases, caller }, { body }) =>
      useCases.apps.create(caller, {
        name: body.name,
        platform: body.platform || body.framework,
        teamOwner: body.teamOwner ?? undefined,
        description: body.description ?? undefined,
        pool: body.pool || undefined,
        plan: planName(body.plan) || undefined,
      }),
  }),
  json({
    id: 'apps.info',
    section,
    summary: 'Show one app.',
    method: 'GET',
    path: '/apps/:app',
    access: 'token',
    params: appParams,
    shape: 'app',
    errors: ['app.not_found', 'access.denied'],
    handle: ({ useCases, caller }, { params }) => useCases.apps.info(caller, params.app),
  }),
  progress({
    id: 'apps.remove',
    section,
    summary: 'Remove an app with everything that belongs to it.',
    method: 'DELETE',
    path: '/apps/:app',
    access: 'user',
    params: appParams,
    query: Type.Object({ force: queryText }),
    errors: ['app.not_found', 'access.denied', 'app.busy', 'app.swapped'],
    handle: ({ useCases, caller }, { params, query }, say) =>
      useCases.apps.remove(caller, params.app, say, readFlag('force', query.force)),
  }),
  progress({
    id: 'apps.restart',
    section,
    summary: 'Replace the units, or those of one process, by new ones of the same release.',
    method: 'GET',
    path: '/apps/:app/restart',
    also: [{ method: 'POST', path: '/apps/:app/restart' }],
    changesState: true,
    textTo: ['GET'],
    access: 'user',
    params: appParams,
    query: Type.Object({ process: queryText }),
    rawBody: OPTIONS_BODY,
    errors: [
      'app.not_found',
      'access.denied',
      'app.busy',
      'app.not_deployed',
      'app.stopped',
      'process.not_found',
      'unit.failed',
      'input.invalid_json',
    ],
    handle: async ({ useCases, caller }, { params, query, body }, say) => {
      const { process } = readOptions(body, query, ['process']);
      await useCases.apps.restart(caller, params.app, say, process);
    },
  }),
];

type AppQuery = Readonly<
  Partial<Record<'name' | 'platform' | 'owner' | 'teamOwner' | 'teamowner' | 'pool', string>>
> & {
  readonly status?: string | string[];
};

/** Empty ones mean all. */
function filterOf({ status, ...query }: AppQuery): AppFilter {
  const states = [status ?? []].flat().filter((state) => state !== '');
  const teamOwner = query.teamOwner || query.teamowner;
  const { name, platform, owner, pool } = query;
  return {
    ...(name && { name }),
    ...(platform && { platform }),
    ...(owner && { owner }),
    ...(teamOwner && { teamOwner }),
    ...(pool && { pool }),
    ...(states.length > 0 && { states }),
  };
}
