/**
 * The way of a deploy, in the one place where its order is written:
 * received -> building (or pulling an image) -> releasing -> starting -> routing -> draining -> done | failed.
 * A rollback goes the same way but for the building: its code is there.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import type { PageProblem } from '../pages/page.ts';
import type { MachineProbe } from '../diagnosis/probe.ts';
import { type App, type EnvVar, hostLabel } from '../apps/app.ts';
import { labelsOf } from '../apps/host-names.ts';
import { ROUTED_PROCESS } from '../units/unit.ts';
import { type NewRelease, planAndPool } from '../apps/next-release.ts';
import { privateValues } from '../units/private-values.ts';
import type { RolloutStep } from '../rollouts/rollout-plan.ts';
import { AUTO_PLATFORM } from '../platforms/platform.ts';
import type { Rollouts } from '../rollouts/rollouts.ts';
import type { Power } from '../units/wanted-units.ts';
import { PlatformError } from '../errors.ts';
import type { PlatformCounters } from '../metrics/platform-counters.ts';
import type { Journal } from '../logs/journal.ts';
import type { Say } from '../say.ts';
import { type NamedByFile, namedByFile } from '../services/file-names.ts';
import { appUrl, type Settings } from '../settings.ts';
import type { StoreWriter } from '../store.ts';
import type { PublishedDeps } from '../artifacts/published-artifacts.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Artifact } from './builder.ts';
import type { Deploy, DeployState, NewCode } from './deploy.ts';
import type { DeployOrder } from './deploy-order.ts';
import type { QueuedDeploy } from './deploy-queue.ts';
import { announceDeploy } from './announce-deploy.ts';
import { type RecordedFailure, failureFacts } from './failure-facts.ts';
import { failureReport } from './failure-report.ts';
import { demandOpen, isCommitted } from './interrupted.ts';
import { addedTo, newVariables, announceNew } from './new-variables.ts';
import { type Made, makeArtifact, type MakeDeps } from './make-artifact.ts';
import { warnOfData } from './lost-data.ts';
import { pageProblem, warnOfPage } from './page-warning.ts';
import { PhaseClock } from './phase-clock.ts';
import { pruneReleases } from './prune.ts';
import { releaseProcesses } from './release-processes.ts';
import { restoreEnv } from './rollback.ts';
import { type StillThere, stillThere } from './still-there.ts';
import type { Engines } from '../units/engines.ts';
import { makeDeclared } from '../volumes/declared-volumes.ts';
import { demandMountable, releaseMounts } from '../volumes/release-mounts.ts';
import type { VolumeHost } from '../volumes/volume-host.ts';
import { Transcript } from './transcript.ts';

interface PipelineDeps extends MakeDeps, Pick<PublishedDeps, 'imageRegistry'> {
  readonly artifacts: Pick<ArtifactStore, 'remove'>;
  readonly probe: Pick<MachineProbe, 'disk' | 'request'>;
  readonly order: DeployOrder;
  readonly rollouts: Rollouts;
  readonly provisioner: Pick<Engines, 'at' | 'writtenData'>;
  readonly volumeHost: VolumeHost;
  readonly journal: Journal;
  readonly counters: Pick<PlatformCounters, 'deployEnded'>;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** An app and its environment, as they are now. */
export interface AppNow {
  readonly app: App;
  readonly env: readonly EnvVar[];
}

interface PipelineRun {
  readonly deploy: Deploy;
  /** When the deploy was asked for. */
  readonly begun: AppNow;
  /** What is to serve: code to be built, or a release equal to an older one. */
  readonly what: { readonly code: NewCode } | GoingBack;
  readonly by: string;
  readonly say: Say;
  readonly queued: QueuedDeploy;
  /** Errors: app.not_found, access.denied for who has lost the right meanwhile. */
  readonly current: () => Promise<AppNow>;
  /** Runs the switch from what serves to the new release with the app's lease. */
  readonly exclusively: <T>(say: Say, work: () => Promise<T>) => Promise<T>;
}

interface GoingBack {
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
    const redact = privateValues(run.begun.env);
    const transcript = new Transcript({ store, deployId: run.deploy.id, pusher: run.say, redact, logger });
    const on: Going = { run, transcript, clock: new PhaseClock(run.deploy, this.#deps.now) };
    // Thrown away when the deploy fails.
    let artifact: Artifact | null = null;
    let made: Made | null = null;
    try {
      if ('code' in run.what) {
        made = await this.#make(on, run.what.code);
        if (made.isNew) artifact = made.made;
      }
      // What a deploy that is cut off names as its own is thrown away.
      const { image = '', isNew = false } = made ?? {};
      await this.#step(on, 'releasing', {
        ...(made !== null && { image }),
        ...(isNew && { artifact: artifact?.id ?? '' }),
      });
      return await run.exclusively(transcript.say, async () => {
        run.queued.stage = 'switching';
        const current = await this.#current(on);
        const named = await this.#named(current, made);
        const release = await this.#release(run, { ...current, env: named.env }, made);
        await this.#makeVolumes(on, release, made);
        if ('code' in run.what) await run.what.code.push?.hold(run.deploy.id);
        announceNew(transcript, named, release);
        await bestEffort(logger, 'looking for written data', () => warnOfData(this.#deps, current.app, transcript.say));
        const number = await this.#roll(on, current, release, { platform: made?.made.platform, named });
        return this.#succeeded(on, current.app, release, number);
      });
    } catch (thrown) {
      const facts = failureFacts(thrown, run.queued.signal, transcript.redact);
      throw await this.#fail({ ...on, artifact, facts, thrown });
    }
  }

  /** Nothing that goes wrong here makes the deploy fail: it serves. */
  async #succeeded(on: Going, app: App, release: NewRelease, number: number): Promise<Deploy> {
    const { store, logger } = this.#deps;
    const { deploy } = on.run;
    const { artifact, image } = release;
    let done: Deploy = { ...deploy, state: 'routing', artifact, image, release: number };
    await bestEffort(logger, 'closing a deploy', async () => {
      await this.#announce(on, app, done, ROUTED_PROCESS in release.processes);
      done = (await store.deploy(deploy.id)) ?? done;
    });
    return done;
  }

  async #announce(on: Going, { name }: App, deploy: Deploy, answers: boolean): Promise<void> {
    const { store, journal, logger, settings, order } = this.#deps;
    const { run, transcript } = on;
    const { release } = deploy;
    const app = (await store.app(name)) ?? run.begun.app;
    const address = appUrl(hostLabel(app), settings);
    transcript.say('');
    if (app.desired === 'stopped') {
      transcript.say(`-----> The app was stopped meanwhile: its next start runs release ${release}`);
    } else if (answers) {
      const problem = await (on.page ?? pageProblem(this.#deps, name));
      transcript.say(`-----> Release ${release} ${problem === null ? 'answers' : 'serves'} at ${address}`);
      for (const process of app.routedProcesses)
        transcript.say(`       ${process} answers at ${appUrl(labelsOf(app, process), settings)}`);
      if (problem !== null) await warnOfPage(this.#deps, deploy, problem, transcript.say);
    } else {
      transcript.say(
        `-----> Release ${release} runs; without a process "${ROUTED_PROCESS}" nothing answers at ${address}`,
      );
    }
    await transcript.flush();
    await journal.note(name, `release ${release} (${versionOf(deploy)}) deployed by ${run.by}`);
    await bestEffort(logger, 'removing old releases', async () => {
      // The other one may be about to use what would go; it removes it itself.
      if (!(await order.isOtherAtWork(name, deploy.id))) await pruneReleases(this.#deps, name);
    });
  }

  async #make(on: Going, code: NewCode): Promise<Made> {
    const { queued, begun } = on.run;
    const { say } = on.transcript;
    await this.#deps.order.turn(queued, begun.app.name, say);
    await code.push?.begin();
    const begin = async (): Promise<AppNow> => {
      const current = await this.#current(on);
      await this.#step(on, 'building');
      return current;
    };
    return makeArtifact(this.#deps, { queued, owner: begun.app.owner, code, say, begin });
  }

  /** What is private now is replaced from here on. */
  async #current({ run, transcript }: Going): Promise<AppNow> {
    const current = await run.current();
    transcript.alsoRedact(privateValues(current.env));
    return current;
  }

  async #release(run: PipelineRun, { app, env }: AppNow, made: Made | null): Promise<NewRelease> {
    if ('back' in run.what) return run.what.back;
    if (made === null) throw new Error('nothing was made');
    const { store, now } = this.#deps;
    const { made: artifact, image, settings } = made;
    const serving = app.release === null ? null : await store.release(app.name, app.release);
    return {
      app: app.name,
      artifact: artifact.id,
      deployId: run.deploy.id,
      commit: run.deploy.commit,
      image,
      published: '',
      env: [...env, ...newVariables(artifact, app, env)],
      processes: releaseProcesses(artifact, serving, app.settings.counts),
      healthCheck: artifact.healthCheck,
      hooks: artifact.hooks,
      settings: { ...settings, counts: app.settings.counts, mounts: app.settings.mounts },
      bindingNames: artifact.bindingNames ?? {},
      maintenancePage: artifact.maintenancePage ?? '',
      mounts: releaseMounts(app.settings.mounts, artifact.volumes),
      ...(await planAndPool(store, app)),
      reason: 'deploy',
      by: run.by,
      createdAt: now().toISOString(),
    };
  }

  /** Going back has the names of then. */
  async #named({ app, env }: AppNow, made: Made | null): Promise<NamedByFile> {
    if (made === null) return { env, write: async () => {} };
    return namedByFile(this.#deps.store, app.name, env, made.made.bindingNames ?? {});
  }

  /** Those that the app's files name; what the machine cannot mount is said before anything is replaced. */
  async #makeVolumes({ run, transcript }: Going, release: NewRelease, made: Made | null): Promise<void> {
    demandMountable(release, this.#deps.provisioner.at(release.placement).supports);
    const declared = made?.made.volumes ?? {};
    await makeDeclared(this.#deps, { app: release.app, declared, by: run.by, say: transcript.say });
  }

  /** The number of the release that serves now. */
  async #roll(
    on: Going,
    { app }: AppNow,
    release: NewRelease,
    { platform, named }: { readonly platform: string | undefined; readonly named: NamedByFile },
  ): Promise<number> {
    const { run, transcript, clock } = on;
    const rollout = await this.#deps.rollouts.roll({
      app,
      release,
      reason: release.reason,
      by: run.by,
      say: transcript.say,
      signal: run.queued.signal,
      power: powerAfter(run.begun.app, app),
      isNewVersion: true,
      onStep: async (tx, step) => {
        await this.#onStep(tx, run, release, clock, step);
        // While the old units end, so that nobody waits for it.
        if (step.state === 'draining') on.page ??= pageProblem(this.#deps, app.name);
        if (step.state !== 'routing') return;
        await this.#settlePlatform(tx, app.name, platform);
        await named.write(tx);
        if (!('code' in run.what)) return;
        await tx.setEnv(app.name, addedTo(named.env, release.env));
        await run.what.code.push?.move(tx);
      },
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
        await tx.updateApp(deploy.app, { settings: what.back.settings });
        await what.write(tx);
      }
    } else if (state === 'done') {
      const finishedAt = this.#deps.now().toISOString();
      await tx.updateDeploy(deploy.id, { ...change, failedRequests, finishedAt });
      await announceDeploy(tx, deploy.id, finishedAt);
      this.#deps.counters.deployEnded('done', null, clock.phases);
    } else {
      await tx.updateDeploy(deploy.id, change);
    }
  }

  /** An app that takes what its first push is, is of that platform as soon as this push serves. */
  async #settlePlatform(tx: StoreWriter, name: string, platform: string | undefined): Promise<void> {
    const app = await tx.app(name);
    if (platform !== undefined && app?.platform === AUTO_PLATFORM) await tx.updateApp(name, { platform });
  }

  async #step({ run, clock }: Going, state: DeployState, more: Partial<Deploy> = {}): Promise<void> {
    clock.enter(state);
    await this.#deps.store.transact(async (tx) => {
      await demandOpen(tx, run.deploy.id);
      await this.#deps.order.demandPlace(tx, run.deploy.app, run.deploy.id);
      await tx.updateDeploy(run.deploy.id, { state, phases: clock.phases, ...more });
    });
  }

  /** Records and says everything as far as possible; the error is the same in any case. */
  async #fail(failed: FailedRun): Promise<PlatformError> {
    const { store, artifacts, journal, logger, now } = this.#deps;
    const { run, transcript, clock, artifact, facts, thrown } = failed;
    const { deploy } = run;
    const { app } = run.begun;
    const isCancelled = facts.cause === 'cancelled';
    if (facts.cause === 'internal') logger.error({ err: thrown, app: app.name, deploy: deploy.id }, 'a deploy failed');
    let still: StillThere = { release: app.release, is: app.desired === 'stopped' ? 'stopped' : 'up' };
    await bestEffort(logger, 'looking up what serves', async () => {
      still = await stillThere(store, app.name);
    });
    for (const line of failureReport({ app: app.name, ...facts, still, isImage: deploy.image !== '' }))
      transcript.say(line);
    await transcript.flush();
    const state = isCancelled ? 'cancelled' : 'failed';
    clock.enter(state);
    const end = { state, cause: facts.cause, error: facts.message, finishedAt: now().toISOString() } as const;
    let isRecorded = false;
    await bestEffort(logger, 'recording a failed deploy', async () => {
      isRecorded = await store.transact(async (tx) => {
        const own = await tx.deploy(deploy.id);
        if (own !== null && isCommitted(own)) return false;
        await tx.updateDeploy(deploy.id, { ...end, phases: clock.phases, durationMs: clock.totalMs });
        await announceDeploy(tx, deploy.id, end.finishedAt);
        return true;
      });
    });
    if (isRecorded) this.#deps.counters.deployEnded(state, facts.cause, clock.phases);
    // Else it may serve: whoever closes the deploy knows.
    if (artifact !== null && isRecorded)
      await bestEffort(logger, 'removing a slug', () => artifacts.remove(artifact.id));
    const what = isCancelled ? 'cancelled' : `failed (${facts.cause})`;
    await journal.note(app.name, `deploy by ${run.by} ${what}: ${facts.message}`);
    return new PlatformError('deploy.failed', `Deploy ${what}: ${facts.message}`, {
      cause: thrown,
      hint: facts.hint === '' ? `See "tancho deploy info ${deploy.id}".` : facts.hint,
      details: { cause: facts.cause, deploy: deploy.id, lastLines: facts.lines },
    });
  }
}

/** A deploy starts an app that rests; what somebody has stopped since it was asked for stays stopped. */
function powerAfter(before: App, { desired, stoppedProcesses }: App): Power {
  const isSame = before.desired === desired && before.stoppedProcesses.join() === stoppedProcesses.join();
  return isSame ? { desired: 'running', stoppedProcesses: [] } : { desired, stoppedProcesses };
}

function versionOf({ commit, image }: Deploy): string {
  if (image !== '') return `image ${image}`;
  return `commit ${commit === '' ? 'none' : commit.slice(0, 7)}`;
}

/** A run on its way. */
interface Going {
  readonly run: PipelineRun;
  readonly transcript: Transcript;
  readonly clock: PhaseClock;
  /** What is wrong with what serves now, once somebody has begun to look. */
  page?: Promise<PageProblem | null>;
}

interface FailedRun extends Going {
  readonly artifact: Artifact | null;
  readonly facts: RecordedFailure;
  readonly thrown: unknown;
}
