/** The record of an app: what it is, which teams have access, its pool and plan (the pool: specification 4.1). */
import { empty, type Operation, progress } from '../operation.ts';
import { Type } from '../schema.ts';
import { appParams, optionalText, queryText } from './fields.ts';
import { planName, planText, readChange, startCommands } from './app-change-input.ts';
import { flag, optionsBody, readBare } from './options-input.ts';
import { type RawBody, readBodyFields, readFlag } from '../body.ts';

const teamParams = Type.Object({ app: Type.String(), team: Type.String() });
const bareText = { mediaType: 'text/plain', schema: Type.String() };
const errors = ['app.not_found', 'access.denied', 'app.busy'] as const;
const planErrors = ['plan.not_found', 'quota.exceeded', 'unit.failed', 'input.invalid_json'] as const;

export const appChangeOperations: readonly Operation[] = [
  empty({
    id: 'apps.update',
    section: null,
    summary:
      'Change the description, platform, owning team, pool or plan of an app; what is empty stays as it is. Or its start commands (process to command), build command, root directory and kept development packages: those are in effect with the next deploy, and an empty one is taken away. With `dryRun=true` nothing is changed: the answer is what would refuse it before anything begins.',
    method: 'PUT',
    path: '/apps/:app',
    also: [{ method: 'POST', path: '/apps/:app' }],
    access: 'user',
    params: appParams,
    query: Type.Object({ dryRun: queryText }),
    rawBody: optionsBody({
      description: optionalText,
      platform: optionalText,
      teamOwner: optionalText,
      pool: optionalText,
      plan: planText,
      cname: optionalText,
      startCommands,
      buildCommand: optionalText,
      root: optionalText,
      keepDevPackages: flag,
    }),
    errors: [
      ...errors,
      ...planErrors,
      'platform.not_found',
      'platform.disabled',
      'team.not_found',
      'pool.not_found',
      'unsupported',
      'cname.invalid',
      'cname.taken',
      'cname.unproven',
    ],
    handle: async ({ useCases, caller }, { params, query, body }) => {
      const { app } = params;
      const { change, cname } = readChange(body);
      const { appChanges, cnames } = useCases;
      if (cname === undefined) {
        if (readFlag('dryRun', query.dryRun)) await appChanges.judge(caller, app, change);
        else await appChanges.change(caller, app, change);
        return;
      }
      const names = cname === '' ? [] : [cname];
      const isAlone = Object.values(change).every((value) => value === undefined);
      // Two changes one after the other: what would refuse the second one stops the first one, too.
      if (!isAlone) await appChanges.judge(caller, app, change);
      if (readFlag('dryRun', query.dryRun)) return cnames.judgeReplace(caller, app, names);
      await cnames.replace(caller, app, names);
      if (!isAlone) await appChanges.change(caller, app, change);
    },
  }),
  empty({
    id: 'apps.pool',
    section: '4.1',
    summary:
      'Move an app to another pool; what runs is replaced by units there, where that is another engine or place.',
    method: 'POST',
    path: '/apps/:app/pool',
    access: 'user',
    params: appParams,
    rawBody: bareText,
    errors: [...errors, 'pool.not_found', 'unsupported', 'quota.exceeded', 'unit.failed', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) =>
      useCases.appChanges.change(caller, params.app, { pool: readBare(body, 'pool') }),
  }),
  progress({
    id: 'apps.plan',
    section: null,
    summary: 'Give an app another plan; what runs is replaced by units with its limits.',
    method: 'POST',
    path: '/apps/:app/plan',
    access: 'user',
    params: appParams,
    rawBody: optionsBody({ name: optionalText, plan: planText }),
    errors: [...errors, ...planErrors],
    handle: ({ useCases, caller }, { params, body }, say) =>
      useCases.appChanges.change(caller, params.app, { plan: readPlan(body) }, say),
  }),
  empty({
    id: 'apps.team_owner',
    section: null,
    summary: 'Make another team the owner of an app.',
    method: 'POST',
    path: '/apps/:app/team-owner',
    access: 'user',
    params: appParams,
    rawBody: bareText,
    errors: [...errors, 'team.not_found', 'input.invalid_json'],
    handle: ({ useCases, caller }, { params, body }) =>
      useCases.appChanges.change(caller, params.app, { teamOwner: readBare(body, 'teamOwner') }),
  }),
  empty({
    id: 'apps.grant',
    section: null,
    summary: 'Give a team access to an app.',
    method: 'PUT',
    path: '/apps/:app/teams/:team',
    also: [{ method: 'PUT', path: '/apps/:app/:team' }],
    access: 'user',
    params: teamParams,
    errors: [...errors, 'team.not_found', 'team.access_exists'],
    handle: ({ useCases, caller }, { params }) => useCases.appChanges.grant(caller, params.app, params.team),
  }),
  empty({
    id: 'apps.revoke',
    section: null,
    summary: "Take a team's access to an app away.",
    method: 'DELETE',
    path: '/apps/:app/teams/:team',
    also: [{ method: 'DELETE', path: '/apps/:app/:team' }],
    access: 'user',
    params: teamParams,
    errors: [...errors, 'team.not_found', 'team.access_missing', 'team.owns_app'],
    handle: ({ useCases, caller }, { params }) => useCases.appChanges.revoke(caller, params.app, params.team),
  }),
];

/** `{"name": "small", ...}`, `plan=small`, or the bare name. */
function readPlan(body: RawBody): string {
  const plan = body.text.trimStart().startsWith('{') ? readBodyFields(body).get('plan')?.at(-1) : undefined;
  return planName(plan) || readBare(body, 'plan');
}
