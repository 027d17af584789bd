/** What is refused about deploys, and what helps. */
import { PlatformError } from '../errors.ts';
import type { Deploy } from './deploy.ts';

export function changedMeanwhile(app: string): PlatformError {
  return new PlatformError('app.busy', `${app} was changed meanwhile.`, {
    hint: 'Look at the app as it is now, then try again.',
  });
}

export function deployNotFound(): PlatformError {
  return new PlatformError('deploy.not_found', 'Deploy not found.', {
    hint: 'List the deploys with "tancho deploy list".',
  });
}

export function deployOver({ id, app, state, release }: Deploy): PlatformError {
  if (release === null) {
    return new PlatformError('deploy.over', `Deploy ${id} has ended already (${state}); it cannot be cancelled.`, {
      hint: `See "tancho deploy info ${id}".`,
    });
  }
  return new PlatformError(
    'deploy.over',
    `Deploy ${id} serves already as release ${release}; it cannot be cancelled.`,
    {
      hint: `To go back to what served before: tancho deploy rollback -a ${app}`,
    },
  );
}
