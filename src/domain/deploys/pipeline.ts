/**
 * The way of a deploy, in the one place where its order is written:
 * received -> building -> releasing -> starting -> routing -> draining -> done | failed.
 */
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { createRedactor } from '../../lib/redact.ts';
import { type App, type EnvVar, hostLabel, type Release } from '../apps/app.ts';
import { Failure, type FailureCause, type RolloutState } from '../apps/rollout.ts';
import type { Rollouts } from '../apps/rollouts.ts';
import { envRecord } from '../apps/unit-spec.ts';
import { PlatformError, toPlatformError } from '../errors.ts';
import type { Journal } from '../logs/journal.ts';
import { appAddress, type Settings } from '../settings.ts';
import type { Store, StoreWriter } from '../store.ts';
import type { Artifact, Builder } from './builder.ts';
import type { Deploy, DeployState } from './deploy.ts';
import type { NewCode } from './deploy.ts';
import { failureReport } from './failure-report.ts';
import { pruneReleases } from './prune.ts';
import { Transcript } from './transcript.ts';

export interface PipelineDeps {
  readonly store: Store;
  readonly builder: Builder;
  readonly rollouts: Rollouts;
  readonly journal: Journal;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface PipelineRun {
  readonly deploy: Deploy;
  readonly app: App;
  readonly code: NewCode;
  readonly by: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export class Pipeline {
  readonly #deps: PipelineDeps;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
  }

  /** `run.deploy` is stored in state `received`. Throws PlatformError `deploy.failed`, everything being recorded and said. */
  async run(run: PipelineRun): Promise<Deploy> {
    const { store, journal, logger } = this.#deps;
    const env = await store.env(run.app.name);
    const redact = createRedactor(env.filter((variable) => !variable.public).map((variable) => variable.value));
    const transcript = new Transcript({ store, deployId: run.deploy.id, pusher: run.say, redact, logger });
    const clock = new PhaseClock(run.deploy, this.#deps.now);
    let artifact: Artifact | null = null;
    try {
      artifact = await this.#build(run, env, transcript, clock);
      const release = await this.#release(run, env, artifact);
      const { drained } = await this.#roll(run, release, transcript, clock);
      transcript.say('');
      transcript.say(
        `-----> Release ${release.number} answers at http://${appAddress(hostLabel(run.app), this.#deps.settings)}`,
      );
      await transcript.flush();
      void this.#afterDrain(run.deploy.id, drained);
      await journal.note(
        run.app.name,
        `release ${release.number} (commit ${shortCommit(run.code)}) deployed by ${run.by}`,
      );
      await bestEffort(logger, 'removing old releases', () => pruneReleases(this.#deps, run.app.name));
      return (await store.deploy(run.deploy.id)) ?? run.deploy;
    } catch (thrown) {
      throw await this.#fail(run, transcript, clock, artifact, thrown);
    }
  }

  async #build(run: PipelineRun, env: readonly EnvVar[], transcript: Transcript, clock: PhaseClock): Promise<Artifact> {
    await this.#step(run.deploy.id, clock, 'building');
    transcript.say(`-----> Building ${run.app.name} (${run.app.platform})`);
    const request = {
      app: run.app.name,
      deployId: run.deploy.id,
      platform: run.app.platform,
      source: run.code.source,
      env: envRecord(env),
      privateEnv: env.filter((variable) => !variable.public).map((variable) => variable.name),
    };
    const artifact = await this.#deps.builder.build(request, (line) => transcript.say(`       ${line}`), run.signal);
    await this.#step(run.deploy.id, clock, 'releasing', { artifact: artifact.id });
    return artifact;
  }

  async #release(run: PipelineRun, env: readonly EnvVar[], artifact: Artifact): Promise<Release> {
    const { store, now } = this.#deps;
    const [newest] = await store.releases(run.app.name, 1);
    const serving = run.app.release === null ? null : await store.release(run.app.name, run.app.release);
    const processes = Object.entries(artifact.processes).map(([name, command]) => {
      return [name, { command, count: serving?.processes[name]?.count ?? 1 }] as const;
    });
    return {
      app: run.app.name,
      number: (newest?.number ?? 0) + 1,
      artifact: artifact.id,
      deployId: run.deploy.id,
      commit: run.code.commit,
      env,
      processes: Object.fromEntries(processes),
      healthCheck: artifact.healthCheck,
      hooks: artifact.hooks,
      reason: 'deploy',
      by: run.by,
      createdAt: now().toISOString(),
    };
  }

  #roll(run: PipelineRun, release: Release, transcript: Transcript, clock: PhaseClock): ReturnType<Rollouts['roll']> {
    return this.#deps.rollouts.roll({
      app: run.app,
      release,
      isNewRelease: true,
      reason: 'deploy',
      by: run.by,
      say: transcript.say,
      signal: run.signal,
      power: { desired: 'running', stoppedProcesses: [] },
      onStep: async (tx, state) => {
        await this.#onStep(tx, run.deploy, release, clock, state);
      },
    });
  }

  async #onStep(
    tx: StoreWriter,
    deploy: Deploy,
    release: Release,
    clock: PhaseClock,
    state: RolloutState,
  ): Promise<void> {
    clock.enter(state);
    const change = { state, phases: clock.phases, durationMs: clock.totalMs };
    if (state === 'routing') {
      const app = await tx.app(deploy.app);
      await tx.updateApp(deploy.app, { deploys: (app?.deploys ?? 0) + 1 });
      await tx.updateDeploy(deploy.id, { ...change, release: release.number });
    } else if (state === 'done') {
      await tx.updateDeploy(deploy.id, { ...change, finishedAt: this.#deps.now().toISOString() });
    } else {
      await tx.updateDeploy(deploy.id, change);
    }
  }

  async #afterDrain(deployId: string, drained: Promise<number>): Promise<void> {
    await bestEffort(this.#deps.logger, 'recording the end of a deploy', async () => {
      const failedRequests = await drained;
      await this.#deps.store.transact((tx) => tx.updateDeploy(deployId, { failedRequests }));
    });
  }

  async #step(id: string, clock: PhaseClock, state: DeployState, more: Partial<Deploy> = {}): Promise<void> {
    clock.enter(state);
    await this.#deps.store.transact((tx) => tx.updateDeploy(id, { state, phases: clock.phases, ...more }));
  }

  async #fail(
    run: PipelineRun,
    transcript: Transcript,
    clock: PhaseClock,
    artifact: Artifact | null,
    thrown: unknown,
  ): Promise<PlatformError> {
    const { store, builder, journal, logger, now } = this.#deps;
    const facts = failureFacts(thrown);
    if (facts.cause === 'internal')
      logger.error({ err: thrown, app: run.app.name, deploy: run.deploy.id }, 'a deploy failed');
    const serving = (await store.app(run.app.name))?.release ?? null;
    for (const line of failureReport({ app: run.app.name, ...facts, serving })) transcript.say(line);
    await transcript.flush();
    clock.enter('failed');
    const end = { state: 'failed', cause: facts.cause, error: facts.message, finishedAt: now().toISOString() } as const;
    await store.transact((tx) =>
      tx.updateDeploy(run.deploy.id, { ...end, phases: clock.phases, durationMs: clock.totalMs }),
    );
    if (artifact !== null) await bestEffort(logger, 'removing a slug', () => builder.remove(artifact.id));
    await journal.note(run.app.name, `deploy by ${run.by} failed (${facts.cause}): ${facts.message}`);
    return new PlatformError('deploy.failed', `Deploy failed (${facts.cause}): ${facts.message}`, {
      cause: thrown,
      hint: facts.hint === '' ? `See "tancho deploy info ${run.deploy.id}".` : facts.hint,
      details: { cause: facts.cause, deploy: run.deploy.id, lastLines: facts.lines },
    });
  }
}

function shortCommit(code: NewCode): string {
  return code.commit === '' ? 'none' : code.commit.slice(0, 7);
}

interface Facts {
  readonly cause: FailureCause;
  readonly message: string;
  readonly hint: string;
  readonly lines: readonly string[];
}

function failureFacts(thrown: unknown): Facts {
  if (thrown instanceof Failure)
    return { cause: thrown.code, message: thrown.message, hint: thrown.hint, lines: thrown.lines };
  const error = toPlatformError(thrown);
  const cause = error.code === 'deploy.invalid_source' ? 'invalid_source' : 'internal';
  return { cause, message: error.message, hint: error.hint ?? '', lines: [] };
}

/** Adds up the milliseconds spent in each state. */
class PhaseClock {
  readonly #startedAt: number;
  readonly #now: () => Date;
  readonly #phases: Partial<Record<DeployState, number>> = {};
  #state: DeployState;
  #since: number;

  constructor(deploy: Deploy, now: () => Date) {
    this.#startedAt = new Date(deploy.startedAt).getTime();
    this.#now = now;
    this.#state = deploy.state;
    this.#since = this.#startedAt;
  }

  enter(state: DeployState): void {
    const now = this.#now().getTime();
    this.#phases[this.#state] = (this.#phases[this.#state] ?? 0) + (now - this.#since);
    this.#state = state;
    this.#since = now;
  }

  get phases(): Partial<Record<DeployState, number>> {
    return { ...this.#phases };
  }

  get totalMs(): number {
    return this.#now().getTime() - this.#startedAt;
  }
}
