/**
 * A push, from the moment git has the objects to the moment the reference moves: judged, deployed, accepted or refused.
 * Deploys of the same app come one after the other (domain/deploys/deploy-queue.ts), that of a push held until its reference has
 * moved, so that what serves and what the branch names never part.
 */
import type { Caller } from '../domain/caller.ts';
import type { Deploys } from '../domain/deploys/deploys.ts';
import type { RepositoryTx } from '../domain/deploys/repository-store.ts';
import { isPlatformError, PlatformError } from '../domain/errors.ts';
import type { Say } from '../domain/say.ts';
import { bestEffort, type Logger } from '../lib/logger.ts';
import { isNone, type KeptPush, type RefUpdate } from '../domain/deploys/kept-push.ts';
import { ACCEPTED, type HookRequest, readHookRequest, REFUSED } from './hook.ts';
import { printableLines } from './printable.ts';
import { planPush, shortName } from './ref-updates.ts';
import { refusalText } from './refusal.ts';
import type { GitServiceProcess, Repositories } from './repositories.ts';

interface Push {
  readonly caller: Caller;
  readonly app: string;
  /** Aborted when the pusher is gone. */
  readonly signal: AbortSignal;
  /** Aborted when the platform stops: deploys are cancelled. Its reason is the error that the pusher reads. */
  readonly closing: AbortSignal;
}

interface PushesOptions {
  readonly repositories: Repositories;
  readonly deploys: Pick<Deploys, 'deploy'>;
  readonly logger: Logger;
}

/** A pusher whose terminal stands still must not fill the memory of the platform. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export class Pushes {
  readonly #options: PushesOptions;

  constructor(options: PushesOptions) {
    this.#options = options;
  }

  /** Accompanies a running receive-pack to its end; resolves with its exit code. */
  async accompany(git: GitServiceProcess, push: Push): Promise<number> {
    const { hook, exited } = git;
    if (hook === null) return exited;
    hook.requests.on('error', () => {});
    hook.lines.on('error', () => {});
    const gitGone = new AbortController();
    const gone = AbortSignal.any([push.signal, gitGone.signal]);
    const end = exited.finally(() => gitGone.abort());
    end.catch(() => {});

    const say = sayTo(hook.lines);
    const judge = (accepted: boolean): void => {
      hook.requests.write(accepted ? ACCEPTED : REFUSED);
      hook.lines.end();
    };
    try {
      const request = await readHookRequest(hook.requests);
      if (request !== null) await this.#judge(request, { ...push, signal: gone }, { say, judge, end });
    } catch (error) {
      if (!gone.aborted) say(refusalText(error, this.#options.logger));
      judge(false);
    }
    return end;
  }

  async #judge(request: HookRequest, push: Push, git: Pusher): Promise<void> {
    const plan = planPush(request.updates);
    if (plan.refusal !== null) {
      git.say(plan.refusal);
      git.judge(false);
      return;
    }
    const { repositories } = this.#options;
    if (request.quarantine !== '') await repositories.demandRoom(push.app);
    for (const notice of plan.notices) git.say(notice);
    const { deploy } = plan;
    // While it is built: who deploys it waits for the end before its code may serve.
    const kept = repositories.keepPush(push.app, { ...request, branch: deploy?.ref ?? null });
    kept.catch(() => {});
    if (deploy === null) return this.#store(kept, git);
    let over = (): void => {};
    const held: Held = { is: false, over: new Promise<void>((resolve) => (over = resolve)) };
    let [accepted, code] = [false, -1];
    try {
      accepted = await this.#deploy(deploy, { ...push, quarantine: request.quarantine, kept }, { say: git.say, held });
      git.judge(accepted);
      code = await git.end;
      if (accepted) await this.#settle(push.app, deploy, code);
      else if (held.is) await repositories.finishPush(push.app, 'forget');
    } finally {
      await this.#leave(kept, accepted ? code : null);
      over();
    }
  }

  /** What is not deployed. */
  async #store(kept: Promise<KeptPush | null>, git: Pusher): Promise<void> {
    let code: number | null = null;
    try {
      await (await kept)?.accept();
      git.judge(true);
      code = await git.end;
    } finally {
      await this.#leave(kept, code);
    }
  }

  /** `code`: the exit code of a git that was allowed to move its references; null: it was refused. */
  async #leave(kept: Promise<KeptPush | null>, code: number | null): Promise<void> {
    await bestEffort(this.#options.logger, 'leaving a push', async () => {
      const push = await kept.catch(() => null);
      await push?.end(code === null ? 'refused' : code === 0 ? 'moved' : 'accepted');
    });
  }

  /** True when the new version serves. Everything the pusher should read has been said. */
  async #deploy(
    update: RefUpdate,
    push: Push & { readonly quarantine: string; readonly kept: Promise<KeptPush | null> },
    { say, held }: { readonly say: Say; readonly held: Held },
  ): Promise<boolean> {
    const { repositories, deploys, logger } = this.#options;
    const { caller, app, signal, closing, quarantine, kept } = push;
    const { over } = held;
    const hold = async (id: string): Promise<void> => {
      await kept;
      held.is = true;
      await repositories.holdPush(app, { deploy: id, ...update, quarantine });
    };
    const move = async (tx: RepositoryTx): Promise<void> => (await kept)?.move(tx);
    const begin = async (): Promise<void> => {
      const now = await repositories.ref(app, update.ref);
      if (now !== (isNone(update.from) ? null : update.from)) throw movedMeanwhile(update.ref);
    };
    const announce = (): void => say(refusalText(closing.reason, logger));
    closing.addEventListener('abort', announce, { once: true });
    try {
      await begin();
      const source = repositories.source(app, update.to, quarantine, say);
      const wanted = AbortSignal.any([signal, closing]);
      const ways = { ref: update.ref, begin, hold, move, over };
      await deploys.deploy(caller, app, { source, commit: update.to, origin: 'git', push: ways }, say, wanted);
      return true;
    } catch (error) {
      if (!isPlatformError(error, 'deploy.failed') && !signal.aborted) say(refusalText(error, logger));
      return false;
    } finally {
      closing.removeEventListener('abort', announce);
    }
  }

  async #settle(app: string, update: RefUpdate, code: number): Promise<void> {
    const { repositories, logger } = this.#options;
    // A git that was ended meanwhile has not moved it.
    const hasMoved = await repositories.finishPush(app, 'move');
    if (hasMoved || (await repositories.ref(app, update.ref)) === update.to) {
      await repositories.settle(app, update.ref);
      return;
    }
    logger.warn({ app, commit: update.to, code }, 'a deploy succeeded but git could not move the branch');
  }
}

function movedMeanwhile(ref: string): PlatformError {
  return new PlatformError('app.busy', `The branch ${shortName(ref)} has moved meanwhile: somebody else pushed.`, {
    hint: 'Fetch their work, then push again.',
  });
}

interface Held {
  /** Whether the repository holds what was pushed. */
  is: boolean;
  readonly over: Promise<void>;
}

interface Pusher {
  readonly say: Say;
  readonly judge: (accepted: boolean) => void;
  readonly end: Promise<number>;
}

function sayTo(lines: NodeJS.WritableStream & { readonly writableLength: number; readonly destroyed: boolean }): Say {
  return (text) => {
    if (lines.destroyed || lines.writableLength > MAX_WAITING_BYTES) return;
    lines.write(`${printableLines(text.replace(/\n$/, '')).join('\n')}\n`);
  };
}
