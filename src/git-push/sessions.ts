/**
 * What both git doors have in common once they know their caller: may they, start git, move the bytes, end with them.
 * How a caller is recognised and how a refusal looks on the wire is the doors' business.
 */
import type { Readable, Writable } from 'node:stream';
import { demand } from '../domain/access.ts';
import type { App } from '../domain/apps/app.ts';
import type { Apps } from '../domain/apps/apps.ts';
import { watchRight } from '../domain/apps/right-watch.ts';
import type { RefusalLog } from '../domain/audit/audit.ts';
import { type Caller, callerName } from '../domain/caller.ts';
import type { Deploys } from '../domain/deploys/deploys.ts';
import type { DiskUse } from '../domain/disk/disk-use.ts';
import { isPlatformError, PlatformError } from '../domain/errors.ts';
import { atMost } from '../lib/deadline.ts';
import type { Logger } from '../lib/logger.ts';
import { GitTurns } from './git-turns.ts';
import { Pushes } from './pushes.ts';
import { appNotFound, refusalText } from './refusal.ts';
import type { GitMode, GitServiceName, GitServiceProcess, Repositories } from './repositories.ts';

interface GitSessionsOptions {
  readonly repositories: Repositories;
  readonly apps: Pick<Apps, 'info'>;
  /** With the teams and rights of now: a request may have waited long for its turn. */
  readonly callerNow: (caller: Caller) => Promise<Caller>;
  /** Whether who began something still may go on. */
  readonly mayStill: (caller: Caller, action: 'app.push' | 'app.pull', app: App) => Promise<boolean>;
  /** How often that is asked. */
  readonly recheckMs?: number;
  readonly audit: RefusalLog;
  readonly deploys: Pick<Deploys, 'deploy'>;
  readonly disk: Pick<DiskUse, 'demandSome'>;
  readonly logger: Logger;
}

interface GitSessionRequest {
  readonly caller: Caller;
  readonly app: string;
  readonly service: GitServiceName;
  readonly mode: GitMode;
  readonly protocol: string;
  /** Aborted when the user is gone. */
  readonly signal: AbortSignal;
}

/** The user's end. */
interface GitConnection {
  readonly input: Readable;
  readonly output: Writable;
  /** Where git's own complaints go. */
  readonly errors: (text: Buffer) => void;
}

export interface GitSessions {
  /**
   * Serves one git request and resolves with git's exit code, below 0 when it was cut off, as it is when the caller loses the right to it.
   * `connect` is called once it is sure that git runs; before, it throws PlatformError `app.not_found`, `auth.required`, `access.denied`,
   * `too_many_requests`, `unavailable`, and the reason of the signal. The output is not ended.
   */
  serve(request: GitSessionRequest, connect: () => GitConnection): Promise<number>;
  /**
   * Takes no more requests and cancels the deploys of running pushes, whose pushers are notified; resolves when every
   * session has ended. Those that take longer are cut off.
   */
  close(): Promise<void>;
}

const ACTION = { 'git-receive-pack': 'app.push', 'git-upload-pack': 'app.pull' } as const;
const CLOSE_GRACE_MS = 5_000;
/** Without a byte in either direction; a deploy is never silent that long, because git itself sends signs of life. */
const IDLE_TIMEOUT_MS = 600_000;

export function createGitSessions(options: GitSessionsOptions): GitSessions {
  const { repositories, apps, audit, deploys, disk, logger } = options;
  const pushes = new Pushes({ repositories, deploys, logger });
  const turns = new GitTurns();

  async function authorise({ caller, app, service }: GitSessionRequest): Promise<App> {
    try {
      const view = await apps.info(caller, app);
      demand(caller, ACTION[service], { app: view.app });
      if (service === 'git-receive-pack') await disk.demandSome();
      return view.app;
    } catch (thrown) {
      const error = isPlatformError(thrown, 'app.not_found') ? appNotFound(app) : thrown;
      const attempt = { caller, action: 'app.push', target: `app:${app}`, detail: service };
      if (service === 'git-receive-pack') audit.refused(attempt, error);
      throw error;
    }
  }

  const closing = new AbortController();
  const cut = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function serve(request: GitSessionRequest, connect: () => GitConnection): Promise<number> {
    const endTurn = await turns.begin(request);
    try {
      request.signal.throwIfAborted();
      const caller = await options.callerNow(request.caller);
      const known = await authorise({ ...request, caller });
      const { app, service, mode, protocol } = request;
      // Heals an app whose repository was lost between two steps of a crash.
      await repositories.create(app);
      closing.signal.throwIfAborted();
      const git = await repositories.serve(app, { service, mode, protocol, by: callerName(caller) });
      const connection = connect();
      const right = watchRight(() => options.mayStill(caller, ACTION[service], known), options.recheckMs);
      const say = (): void => connection.errors(Buffer.from(`${refusalText(right.lost.reason, logger)}\n`));
      right.lost.addEventListener('abort', say, { once: true });
      const signal = AbortSignal.any([request.signal, cut.signal, right.lost]);
      const leave = join(git, connection, signal);
      try {
        return await pushes.accompany(git, { caller, app, signal, closing: closing.signal });
      } finally {
        right.stop();
        leave();
      }
    } finally {
      endTurn();
    }
  }

  return {
    serve(request, connect) {
      const served = closing.signal.aborted ? Promise.reject(beingStopped()) : serve(request, connect);
      running.add(served);
      const forget = (): boolean => running.delete(served);
      served.then(forget, forget);
      return served;
    },
    async close() {
      closing.abort(beingStopped());
      const ended = Promise.allSettled(running);
      await atMost(CLOSE_GRACE_MS, ended);
      cut.abort();
      await atMost(CLOSE_GRACE_MS, ended);
    },
  };
}

function beingStopped(): PlatformError {
  return new PlatformError('unavailable', 'The platform is being stopped.', { hint: 'Push again when it is back.' });
}

/** Lets the bytes flow, until nothing has flowed for too long; the answer takes the two apart again. */
function join(git: GitServiceProcess, connection: GitConnection, signal: AbortSignal): () => void {
  const { input, output, errors } = connection;
  const end = (): void => git.end();
  const idle = setTimeout(end, IDLE_TIMEOUT_MS);
  const alive = (): void => {
    idle.refresh();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  // git may stop reading early (a pack that is too large); the user must still be able to finish sending and read why.
  git.input.on('error', () => {
    input.unpipe(git.input);
    input.resume();
  });
  input.on('error', end).on('data', alive).pipe(git.input);
  git.output.on('data', alive).pipe(output, { end: false });
  git.errors.on('data', errors);
  return () => {
    clearTimeout(idle);
    signal.removeEventListener('abort', end);
    input.off('data', alive).unpipe(git.input);
    input.resume();
  };
}
