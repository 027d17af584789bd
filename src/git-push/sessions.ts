/**
 * What both git doors have in common once they know their caller: may they, start git, move the bytes, end with them.
 * How a caller is recognised and how a refusal looks on the wire is the doors' business.
 */
import type { Readable, Writable } from 'node:stream';
import { demand } from '../domain/access.ts';
import type { Apps } from '../domain/apps/apps.ts';
import { type Caller, callerName } from '../domain/caller.ts';
import type { Deploys } from '../domain/deploys/deploys.ts';
import { isPlatformError, PlatformError } from '../domain/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { Pushes } from './pushes.ts';
import { appNotFound } from './refusal.ts';
import type { GitMode, GitServiceName, GitServiceProcess, Repositories } from './repositories.ts';

export interface GitSessionsOptions {
  readonly repositories: Repositories;
  readonly apps: Pick<Apps, 'info'>;
  readonly deploys: Deploys;
  readonly logger: Logger;
  /** Git processes at one time, for all users together. */
  readonly maxSessions?: number;
}

export interface GitSessionRequest {
  readonly caller: Caller;
  readonly app: string;
  readonly service: GitServiceName;
  readonly mode: GitMode;
  readonly protocol: string;
}

/** The user's end. */
export interface GitConnection {
  readonly input: Readable;
  readonly output: Writable;
  /** Where git's own complaints go. */
  readonly errors: (text: Buffer) => void;
  /** Aborted when the user is gone. */
  readonly signal: AbortSignal;
}

export interface GitSessions {
  /**
   * Serves one git request and resolves with git's exit code. `connect` is called once it is sure that git runs; before, it throws
   * PlatformError `app.not_found`, `auth.required`, `access.denied`, `unavailable`. The output is not ended.
   */
  serve(request: GitSessionRequest, connect: () => GitConnection): Promise<number>;
}

const MAX_SESSIONS = 64;

export function createGitSessions(options: GitSessionsOptions): GitSessions {
  const { repositories, apps, deploys, logger, maxSessions = MAX_SESSIONS } = options;
  const pushes = new Pushes({ repositories, deploys, logger });
  let sessions = 0;

  async function authorise({ caller, app, service }: GitSessionRequest): Promise<void> {
    try {
      const view = await apps.info(caller, app);
      demand(caller, service === 'git-receive-pack' ? 'app.push' : 'app.pull', { app: view.app });
    } catch (error) {
      throw isPlatformError(error, 'app.not_found') ? appNotFound(app) : error;
    }
  }

  return {
    async serve(request, connect) {
      await authorise(request);
      if (sessions >= maxSessions) {
        throw new PlatformError('unavailable', 'The platform is serving too many git requests.', {
          hint: 'Try again in a moment.',
        });
      }
      sessions += 1;
      try {
        const { caller, app, service, mode, protocol } = request;
        // Heals an app whose repository was lost between two steps of a crash.
        await repositories.create(app);
        const git = await repositories.serve(app, { service, mode, protocol, by: callerName(caller) });
        const connection = connect();
        const leave = join(git, connection);
        try {
          return await pushes.accompany(git, { caller, app, signal: connection.signal });
        } finally {
          leave();
        }
      } finally {
        sessions -= 1;
      }
    },
  };
}

/** Lets the bytes flow; the answer takes the two apart again. */
function join(git: GitServiceProcess, { input, output, errors, signal }: GitConnection): () => void {
  const end = (): void => git.end();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  // git may stop reading early (a pack that is too large); the user must still be able to finish sending and read why.
  git.input.on('error', () => {
    input.unpipe(git.input);
    input.resume();
  });
  input.on('error', end);
  input.pipe(git.input);
  git.output.pipe(output, { end: false });
  git.errors.on('data', errors);
  return () => {
    signal.removeEventListener('abort', end);
    input.unpipe(git.input);
    input.resume();
  };
}
