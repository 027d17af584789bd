/**
 * A push, from the moment git has the objects to the moment the reference moves: judged, deployed, accepted or refused.
 * Pushes that deploy the same app come one after the other, each held until its reference has moved, so that what serves
 * and what the branch names never part.
 */
import type { Caller } from '../domain/caller.ts';
import type { Deploys } from '../domain/deploys/deploys.ts';
import { isPlatformError } from '../domain/errors.ts';
import type { Say } from '../domain/say.ts';
import { KeyedQueue } from '../lib/keyed-queue.ts';
import type { Logger } from '../lib/logger.ts';
import { Tally } from '../lib/tally.ts';
import { ACCEPTED, type HookRequest, readHookRequest, REFUSED, type RefUpdate } from './hook.ts';
import { printableLines } from './printable.ts';
import { isNone, planPush, shortName } from './ref-updates.ts';
import { refusalText } from './refusal.ts';
import type { GitServiceProcess, Repositories } from './repositories.ts';

export interface Push {
  readonly caller: Caller;
  readonly app: string;
  /** Aborted when the pusher is gone. */
  readonly signal: AbortSignal;
  /** Aborted, with what to tell the pusher, when the platform stops: deploys are cancelled. */
  readonly closing: AbortSignal;
}

export interface PushesOptions {
  readonly repositories: Repositories;
  readonly deploys: Pick<Deploys, 'deploy'>;
  readonly logger: Logger;
}

/** A pusher whose terminal stands still must not fill the memory of the platform. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export class Pushes {
  readonly #options: PushesOptions;
  readonly #queue = new KeyedQueue();
  readonly #deploying = new Tally();

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
    for (const notice of plan.notices) git.say(notice);
    const { deploy } = plan;
    if (deploy === null) {
      git.judge(true);
      return;
    }
    await this.#inTurn(push, git, async () => {
      const accepted = await this.#deploy(deploy, request.quarantine, push, git.say);
      git.judge(accepted);
      const code = await git.end;
      if (accepted) await this.#settle(push.app, deploy, code);
    });
  }

  async #inTurn(push: Push, git: Pusher, work: () => Promise<void>): Promise<void> {
    const { app } = push;
    if (this.#deploying.of(app) > 0) git.say(`Another push to ${app} is being deployed; waiting for it to end.`);
    const leave = this.#deploying.enter(app);
    try {
      await this.#queue.run(app, work, AbortSignal.any([push.signal, push.closing]));
    } finally {
      leave();
    }
  }

  /** True when the new version serves. Everything the pusher should read has been said. */
  async #deploy(update: RefUpdate, quarantine: string, push: Push, say: Say): Promise<boolean> {
    const { repositories, deploys, logger } = this.#options;
    const { caller, app, signal, closing } = push;
    const now = await repositories.ref(app, update.ref);
    if (now !== (isNone(update.from) ? null : update.from)) {
      say(
        `The branch ${shortName(update.ref)} has moved meanwhile: somebody else pushed. Fetch their work, then push again.`,
      );
      return false;
    }
    const tell = (): void => say(refusalText(closing.reason, logger));
    closing.addEventListener('abort', tell, { once: true });
    try {
      const source = repositories.source(app, update.to, quarantine, say);
      const wanted = AbortSignal.any([signal, closing]);
      await deploys.deploy(caller, app, { source, commit: update.to, origin: 'git' }, say, wanted);
      return true;
    } catch (error) {
      if (!isPlatformError(error, 'deploy.failed') && !signal.aborted) say(refusalText(error, logger));
      return false;
    } finally {
      closing.removeEventListener('abort', tell);
    }
  }

  async #settle(app: string, update: RefUpdate, code: number): Promise<void> {
    const { repositories, logger } = this.#options;
    if ((await repositories.ref(app, update.ref)) === update.to) {
      await repositories.settle(app, update.ref);
      return;
    }
    logger.warn({ app, commit: update.to, code }, 'a deploy succeeded but git could not move the branch');
  }
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
