/** How the dashboard logs in: the token is given to the browser as a cookie that no script can read. */
import { PlatformError } from '../../domain/errors.ts';
import { type BrowserSession, empty, type Operation } from '../operation.ts';
import { Type } from '../schema.ts';
import { optionalText } from './fields.ts';

export const browserSessionOperations: readonly Operation[] = [
  empty({
    id: 'browser_session.open',
    section: null,
    summary: 'Log in a page of the dashboard: the token comes as a cookie, for /dashboard/api alone.',
    method: 'POST',
    path: '/auth/session',
    access: 'public',
    body: Type.Object({ email: optionalText, password: optionalText }),
    errors: [
      'input.invalid_json',
      'user.invalid_password',
      'user.not_found',
      'auth.wrong_password',
      'auth.throttled',
      'access.denied',
    ],
    handle: async ({ useCases, address, browser }, { body }) => {
      const kept = demandBrowser(browser);
      kept.keep(await useCases.users.login(body.email ?? '', body.password, address));
    },
  }),
  empty({
    id: 'browser_session.end',
    section: null,
    summary: 'Log out a page of the dashboard: the session ends and its cookie goes.',
    method: 'DELETE',
    path: '/auth/session',
    access: 'user',
    errors: ['access.denied'],
    handle: async ({ useCases, caller, browser }) => {
      const kept = demandBrowser(browser);
      await useCases.users.logout(caller);
      kept.forget();
    },
  }),
];

function demandBrowser(browser: BrowserSession | null): BrowserSession {
  if (browser !== null) return browser;
  throw new PlatformError('access.denied', 'This is for pages of the dashboard.', {
    hint: 'Log in with POST /users/<email>/tokens, which answers the token.',
  });
}
