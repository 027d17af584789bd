/** Which apps reach the units of others; beyond the specification. */
import { Type } from '../schema.ts';
import { type Operation, progress } from '../operation.ts';

const path = '/apps/:app/links/:to';
const params = Type.Object({ app: Type.String(), to: Type.String() });
const errors = ['app.not_found', 'access.denied', 'app.busy', 'unit.failed', 'input.invalid'] as const;

export const appLinkOperations: readonly Operation[] = [
  progress({
    id: 'links.add',
    section: null,
    summary: 'Let an app reach the units of another by the name <app>.internal; it is restarted.',
    method: 'PUT',
    path,
    access: 'user',
    params,
    errors: [...errors, 'unsupported', 'quota.exceeded'],
    handle: ({ useCases, caller }, { params: { app, to } }, say) => useCases.links.add(caller, app, to, say),
  }),
  progress({
    id: 'links.remove',
    section: null,
    summary: 'Let an app no longer reach the units of another; it is restarted.',
    method: 'DELETE',
    path,
    access: 'user',
    params,
    errors: [...errors, 'quota.exceeded'],
    handle: ({ useCases, caller }, { params: { app, to } }, say) => useCases.links.remove(caller, app, to, say),
  }),
];
