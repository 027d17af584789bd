/**
 * The way of a deploy, in the one place where its order is written:
 * received -> building (or pulling an image) -> releasing -> starting -> routing -> draining -> done | failed.
 * A rollback goes the same way but for the building: its code is there.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { Redactor } from '../../lib/redact.ts';
import { type App, type EnvVar, hostLabel, ROUTED_PROCESS } from '../apps/app.ts';
import type { NewRelease } from '../apps/next-release.ts';
import { privateValues } from '../env/private-values.ts';
import { Failure, type FailureCause } from '../rollouts/rollout.ts';
import type { RolloutStep } from '../rollouts/rollout-plan.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import { envRecord } from '../units/unit-spec.ts';
import { type ErrorCode, isDiskFull, PlatformError, toPlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { limitsFor } from '../plans/demand-plan.ts';
import type { Say } from '../say.ts';
import { appAddress, type Settings } from '../settings.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { Artifact, Builder, SourceTree } from './builder.ts';
import type { Deploy, DeployState, NewCode } from './deploy.ts';
import { failureReport } from './failure-report.ts';
import type { ImageName } from './image-name.ts';
import type { ImageSource } from './image-source.ts';
import { INTERRUPTED } from './interrupted.ts';
import { PhaseClock } from './phase-clock.ts';
import { pruneReleases } from './prune.ts';
import { restoreEnv } from './rollback.ts';
import { type StillThere, stillThere } from './still-there.ts';
import { Transcript } from './transcript.ts';

export interface PipelineDeps {
  readonly store: Store;
  readonly builder: Builder;
  readonly imageSource: ImageSource;
  readonly rollouts: Rollouts;
  readonly journal: Journal;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface PipelineRun {
  readonly deploy: Deploy;
  readonly app: App;
  /** The app's environment. */
  readonly env: readonly EnvVar[];
  /** What is to serve: code to be built, or a release equal to an older one. */
  readonly what: { readonly code: NewCode } | GoingBack;
  readonly by: string;
  readonly say: Say;
  readonly signal: AbortSignal;
}

export interface GoingBack {
  readonly back: NewRelease;
  /** In the transaction that makes it serve. */
  readonly write: (tx: StoreWriter) => Promise<void>;
}

export class Pipeline {
  readonly #deps: PipelineDeps;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
  }

  /**
   * `run.deploy` is stored in state `received`. Throws PlatformError `deploy.failed`, everything being recorded and said; never once
   * the new release serves.
   */
  async run(run: PipelineRun): Promise<Deploy> {
    const { store, logger } = this.#deps;
    const redact = privateValues(run.env);
    const transcript = new Transcript({ store, deployId: run.deploy.id, pusher: run.say, redact, logger });
    const clock = new PhaseClock(run.deploy, this.#deps.now);
    // Thrown away when the deploy fails.
    let artifact: Artifact | null = null;
    let release: NewRelease;
    let serving: number;
    try {
      if ('back' in run.what) {
        release = run.what.back;
        await this.#step(run.deploy.id, clock, 'releasing');
      } else {
        const { made, image, isNew } = await this.#make(run, run.what.code, transcript, clock);
        if (isNew) artifact = made;
        // What a deploy that is cut off names as its own is thrown away.
        await this.#step(run.deploy.id, clock, 'releasing', { image, ...(isNew && { artifact: made.id }) });
        release = await this.#release(run, made, image);
      }
      serving = await this.#roll(run, release, transcript, clock);
    } catch (thrown) {
      throw await this.#fail({ run, transcript, clock, artifact, facts: failureFacts(thrown, redact), thrown });
    }
    const { artifact: id, image } = release;
    let deploy: Deploy = { ...run.deploy, state: 'routing', artifact: id, image, release: serving };
    await bestEffort(logger, 'closing a deploy', async () => {
      await this.#succeeded(run, deploy, ROUTED_PROCESS in release.processes, transcript);
      deploy = (await store.deploy(run.deploy.id)) ?? deploy;
    });
    return deploy;
  }

  async #succeeded(run: PipelineRun, deploy: Deploy, answers: boolean, transcript: Transcript): Promise<void> {
    const { journal, logger, settings } = this.#deps;
    const { name } = run.app;
    const { release } = deploy;
    transcript.say('');
    const address = `http://${appAddress(hostLabel(run.app), settings)}`;
    transcript.say(
      answers
        ? `-----> Release ${release} answers at ${address}`
        : `-----> Release ${release} runs; without a process "${ROUTED_PROCESS}" nothing answers at ${address}`,
    );
    await transcript.flush();
    await journal.note(name, `release ${release} (${versionOf(deploy)}) deployed by ${run.by}`);
    await bestEffort(logger, 'removing old releases', () => pruneReleases(this.#deps, name));
  }

  async #make(run: PipelineRun, code: NewCode, transcript: Transcript, clock: PhaseClock): Promise<Made> {
    await this.#step(run.deploy.id, clock, 'building');
    for (const note of code.notes ?? []) transcript.say(note);
    if ('image' in code) return this.#pull(run, code.image, transcript);
    return { made: await this.#build(run, code.source, transcript), image: '', isNew: true };
  }

  async #pull(run: PipelineRun, image: ImageName, transcript: Transcript): Promise<Made> {
    const { store, imageSource } = this.#deps;
    const { name: app } = run.app;
    transcript.say(`-----> Pulling ${image.full}`);
    const kept = [...new Set((await store.artifacts([app])).map(({ artifact }) => artifact))];
    const request = { app, deployId: run.deploy.id, image, kept };
    const made = await imageSource.pull(request, (line) => transcript.say(`       ${line}`), run.signal);
    return { made, image: made.image, isNew: made.isNew };
  }

  async #build(run: PipelineRun, source: SourceTree, transcript: Transcript): Promise<Artifact> {
    const { env } = run;
    const platform = await this.#deps.store.platformRecord(run.app.platform);
    const definition = platform?.definition ?? null;
    transcript.say(`-----> Building ${run.app.name} (${run.app.platform})`);
    const request = {
      app: run.app.name,
      deployId: run.deploy.id,
      platform: run.app.platform,
      ...(definition !== null && { definition }),
      source,
      env: envRecord(env),
      privateEnv: env.filter((variable) => !variable.public).map((variable) => variable.name),
    };
    return this.#deps.builder.build(request, (line) => transcript.say(`       ${line}`), run.signal);
  }

  async #release(run: PipelineRun, artifact: Artifact, image: string): Promise<NewRelease> {
    const { store, now } = this.#deps;
    const serving = run.app.release === null ? null : await store.release(run.app.name, run.app.release);
    const processes = Object.entries(artifact.processes).map(([name, command]) => {
      return [name, { command, count: serving?.processes[name]?.count ?? 1 }] as const;
    });
    return {
      app: run.app.name,
      artifact: artifact.id,
      deployId: run.deploy.id,
      commit: run.deploy.commit,
      image,
      env: run.env,
      processes: Object.fromEntries(processes),
      healthCheck: artifact.healthCheck,
      hooks: artifact.hooks,
      limits: await limitsFor(store, run.app),
      reason: 'deploy',
      by: run.by,
      createdAt: now().toISOString(),
    };
  }

  /** The number of the release that serves now. */
  async #roll(run: PipelineRun, release: NewRelease, transcript: Transcript, clock: PhaseClock): Promise<number> {
    const rollout = await this.#deps.rollouts.roll({
      app: run.app,
      release,
      reason: release.reason,
      by: run.by,
      say: transcript.say,
      signal: run.signal,
      power: { desired: 'running', stoppedProcesses: [] },
      onStep: (tx, step) => this.#onStep(tx, run, release, clock, step),
    });
    return rollout.release;
  }

  async #onStep(
    tx: StoreWriter,
    { deploy, what }: PipelineRun,
    { artifact }: NewRelease,
    clock: PhaseClock,
    step: RolloutStep,
  ): Promise<void> {
    const { state, release, failedRequests = 0 } = step;
    clock.enter(state);
    // A deploy takes until the new version serves; how long old requests last is not its own.
    const change = { state, phases: clock.phases, ...(state !== 'done' && { durationMs: clock.totalMs }) };
    if (state === 'starting' || state === 'routing') await demandOpen(tx, deploy.id);
    if (state === 'routing') {
      const app = await tx.app(deploy.app);
      await tx.updateApp(deploy.app, { deploys: (app?.deploys ?? 0) + 1 });
      // Not before now: what a deploy that is cut off names as its own is thrown away.
      await tx.updateDeploy(deploy.id, { ...change, release, artifact });
      if ('back' in what) {
        await restoreEnv(tx, what.back);
        await what.write(tx);
      }
    } else if (state === 'done') {
      await tx.updateDeploy(deploy.id, { ...change, failedRequests, finishedAt: this.#deps.now().toISOString() });
    } else {
      await tx.updateDeploy(deploy.id, change);
    }
  }

  async #step(id: string, clock: PhaseClock, state: DeployState, more: Partial<Deploy> = {}): Promise<void> {
    clock.enter(state);
    await this.#deps.store.transact(async (tx) => {
      await demandOpen(tx, id);
      await tx.updateDeploy(id, { state, phases: clock.phases, ...more });
    });
  }

  /** Records and says everything as far as possible; the error is the same in any case. */
  async #fail(failed: FailedRun): Promise<PlatformError> {
    const { store, builder, journal, logger, now } = this.#deps;
    const { run, transcript, clock, artifact, facts, thrown } = failed;
    const { app, deploy } = run;
    if (facts.cause === 'internal') logger.error({ err: thrown, app: app.name, deploy: deploy.id }, 'a deploy failed');
    let still: StillThere = { release: app.release, is: app.desired === 'stopped' ? 'stopped' : 'up' };
    await bestEffort(logger, 'looking up what serves', async () => {
      still = await stillThere(store, app.name);
    });
    for (const line of failureReport({ app: app.name, ...facts, still, isImage: deploy.image !== '' }))
      transcript.say(line);
    await transcript.flush();
    clock.enter('failed');
    const end = { state: 'failed', cause: facts.cause, error: facts.message, finishedAt: now().toISOString() } as const;
    await bestEffort(logger, 'recording a failed deploy', () =>
      store.transact((tx) => tx.updateDeploy(deploy.id, { ...end, phases: clock.phases, durationMs: clock.totalMs })),
    );
    if (artifact !== null) await bestEffort(logger, 'removing a slug', () => builder.remove(artifact.id));
    await journal.note(app.name, `deploy by ${run.by} failed (${facts.cause}): ${facts.message}`);
    return new PlatformError('deploy.failed', `Deploy failed (${facts.cause}): ${facts.message}`, {
      cause: thrown,
      hint: facts.hint === '' ? `See "tancho deploy info ${deploy.id}".` : facts.hint,
      details: { cause: facts.cause, deploy: deploy.id, lastLines: facts.lines },
    });
  }
}

/** Whoever took over the app has closed this deploy: see closeInterrupted(). */
async function demandOpen(tx: StoreWriter, id: string): Promise<void> {
  if ((await tx.deploy(id))?.state !== 'failed') return;
  throw new PlatformError('app.busy', INTERRUPTED, { hint: 'Look at the app as it is now, then push again.' });
}

function versionOf({ commit, image }: Deploy): string {
  if (image !== '') return `image ${image}`;
  return `commit ${commit === '' ? 'none' : commit.slice(0, 7)}`;
}

interface Made {
  readonly made: Artifact;
  /** As Deploy.image. */
  readonly image: string;
  /** False: releases name it, so it is not to be thrown away with a deploy that fails. */
  readonly isNew: boolean;
}

interface Facts {
  readonly cause: FailureCause;
  readonly message: string;
  readonly hint: string;
  readonly lines: readonly string[];
}

const CAUSES: Readonly<Partial<Record<ErrorCode, FailureCause>>> = {
  'app.busy': 'interrupted',
  'app.not_found': 'interrupted',
  'deploy.invalid_source': 'invalid_source',
  'quota.exceeded': 'quota_exceeded',
};

function failureFacts(thrown: unknown, redact: Redactor): Facts {
  if (thrown instanceof Failure) {
    const { code, message, hint, lines } = thrown;
    return { cause: code, message: redact(message), hint: redact(hint), lines: lines.map(redact) };
  }
  const error = toPlatformError(thrown);
  const cause = isDiskFull(thrown) ? 'disk_full' : (CAUSES[error.code] ?? 'internal');
  return { cause, message: error.message, hint: error.hint ?? '', lines: [] };
}

interface FailedRun {
  readonly run: PipelineRun;
  readonly transcript: Transcript;
  readonly clock: PhaseClock;
  readonly artifact: Artifact | null;
  readonly facts: Facts;
  readonly thrown: unknown;
}
