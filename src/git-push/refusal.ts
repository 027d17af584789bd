/** What a git user reads when the platform refuses. */
import { randomHex } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { PlatformError, toPlatformError } from '../domain/errors.ts';
import { checkAppName } from '../domain/apps/app.ts';
import { printableName } from './printable.ts';

const NOTHING_RESERVED: ReadonlySet<string> = new Set();

/** To git-lfs, which asks before git pushes anything, and keeps it from that when it is refused. */
export const NO_LFS =
  'Files of Git LFS are not kept here. To push the pointers in their place: git push --no-verify. To deploy the files themselves: tancho deploy, in a directory that has them.';

/** The app a repository path names (`shop`, `shop.git`, `/shop.git`, `~/shop.git`). Throws `app.not_found`. */
export function appOfPath(path: string): string {
  const name = path.replace(/^(?:~?\/)/, '').replace(/\.git$/, '');
  try {
    return checkAppName(name, NOTHING_RESERVED);
  } catch {
    throw new PlatformError('app.not_found', `"${printableName(path)}" does not name an app.`, {
      hint: 'The address ends in <app>.git; see it with: tancho app info <app>',
    });
  }
}

export function appNotFound(app: string): PlatformError {
  return new PlatformError('app.not_found', `App "${app}" not found.`, {
    hint: `Create it: tancho app create ${app}`,
  });
}

/** One line for the user; what is not theirs to see goes to the log under a number they can quote. */
export function refusalText(thrown: unknown, logger: Logger): string {
  const error = toPlatformError(thrown);
  if (error.code === 'internal') {
    const id = randomHex(8);
    logger.error({ err: error.cause ?? error, id }, 'git request failed');
    return `Something went wrong inside the platform; the server log has the details (number ${id}).`;
  }
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}
