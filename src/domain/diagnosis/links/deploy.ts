import { FINISHED } from '../../deploys/deploy.ts';
import { brokenBy, type DiagnosisLink } from '../link.ts';

/** Whether there is code to run; what hinders that code from running is the concern of the links after it. */
export const deployLink: DiagnosisLink = {
  name: 'deploy',
  asks: 'Has it been deployed?',
  check(facts) {
    const { app, lastDeploy } = facts;
    if (app.release !== null) return null;
    if (lastDeploy === null) {
      return {
        cause: `Nothing was ever deployed to ${app.name}.`,
        command: `git push tancho HEAD:main, or in a directory with the code: tancho deploy -a ${app.name}`,
      };
    }
    if (!FINISHED.has(lastDeploy.state)) {
      return {
        cause: `Its first deploy is under way: ${lastDeploy.state} since ${lastDeploy.startedAt}.`,
        command: `Wait for it; to look at it: tancho deploy info ${lastDeploy.id}`,
      };
    }
    return brokenBy(facts, [
      'invalid_source',
      'pull_failed',
      'push_failed',
      'no_platform',
      'no_process',
      'invalid_config',
      'toolchain_missing',
      'build_failed',
      'release_command_failed',
      'timeout',
      'cancelled',
      'interrupted',
      'internal',
    ]);
  },
};
