/** Commands and shells beside the units: a Job each, which Kubernetes ends and removes by itself when control does not. */
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import type { Container, Job, NetworkPolicy, Pod, Secret } from '../../../kubernetes/objects.ts';
import { Failure } from '../../../domain/failure.ts';
import type { ExecRequest, ExecResult, Shell, ShellRequest, UnitSpec } from '../../../domain/units/provisioner.ts';
import { argvText } from '../../../lib/argv-text.ts';
import { deadline } from '../../../lib/deadline.ts';
import { randomHex } from '../../../lib/ids.ts';
import { appLabels, CONTAINER, environmentOf, environmentSecret, podSpec } from './desired.ts';
import { ownedBy } from './groups.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';
import { policySpec } from './pod-network.ts';
import { isOver, lastEndOf, lifeOf } from './pod-state.ts';
import { podLog } from './unit-output.ts';

const JOB_LABEL = 'batch.kubernetes.io/job-name';
/** How long Kubernetes keeps what has ended, in case control has not removed it. */
const KEPT_SECONDS = 60;
const GRACE_SECONDS = 1;
/** Shells have no end of their own. */
const SHELL_SECONDS = 24 * 3600;
/** Kubernetes ends it so long after control has said for the last time that somebody waits for it. */
const LEASE_SECONDS = 30;
const RENEWED_MS = 10_000;
const START_MS = 120_000;
const END_MS = 60_000;
const LOOK_MS = 1_000;

interface OneOffDeps {
  readonly client: KubernetesClient;
  readonly settings: KubernetesSettings;
}

/** Output of both kinds is one stream, in the order in which the node has it. */
export async function runCommand(deps: OneOffDeps, request: ExecRequest): Promise<ExecResult> {
  const { unit, command, output, timeoutMs } = request;
  const limited = deadline(timeoutMs, request.signal);
  const { signal } = limited;
  const seconds = Math.ceil(timeoutMs / 1000) + KEPT_SECONDS;
  const job = new OneOff(deps, unit, { command: ['/bin/sh', '-c', `exec 2>&1\n${command}`] }, seconds);
  try {
    signal.throwIfAborted();
    const pod = await job.start(signal);
    for await (const lines of podLog(deps.client, pod, { since: null, follow: true, signal }))
      for (const { text } of lines) await output(Buffer.from(`${text}\n`));
    signal.throwIfAborted();
    return await job.result(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const isLate = !request.signal.aborted;
    throw new Failure(isLate ? 'timeout' : 'cancelled', `The command was ended${isLate ? ': it took too long' : ''}.`);
  } finally {
    limited.clear();
    await job.remove();
  }
}

export async function openShell(deps: OneOffDeps, request: ShellRequest): Promise<Shell> {
  const { unit, term, size, output, signal } = request;
  const isTerminal = size !== null;
  const streams = { stdin: true, stdinOnce: true, tty: isTerminal };
  const job = new OneOff(
    deps,
    unit,
    { command: ['/bin/sh'], ...streams, env: [{ name: 'TERM', value: term }] },
    SHELL_SECONDS,
  );
  try {
    signal.throwIfAborted();
    const pod = await job.start(signal);
    const remote = await deps.client.exec(pod.metadata as { name: string; namespace: string }, {
      ...{ container: CONTAINER, hasInput: true, isTerminal, signal },
      onOutput: (bytes) => output(bytes),
    });
    if (size !== null) remote.resize(size);
    const end = async (): Promise<ExecResult> => {
      await remote.ended.catch(() => undefined);
      try {
        return signal.aborted ? { code: null, signal: 'SIGKILL' } : await job.result(signal);
      } catch {
        return { code: null, signal: 'SIGKILL' };
      } finally {
        await job.remove().catch(() => undefined);
      }
    };
    return {
      isTerminal,
      write: (bytes) => remote.write(bytes).catch(() => undefined),
      endInput: () => remote.endInput(),
      resize: (changed) => remote.resize(changed),
      hold: (isHeld) => remote.hold(isHeld),
      ended: end(),
    };
  } catch (error) {
    await job.remove();
    if (signal.aborted) throw new Failure('cancelled', 'The shell was cancelled.');
    throw error;
  }
}

class OneOff {
  readonly #deps: OneOffDeps;
  readonly #job: Job;
  readonly #secret: Secret;
  readonly #policy: NetworkPolicy;
  readonly #where: { readonly namespace: string; readonly labels: string };
  readonly #seconds: number;
  #renewals: NodeJS.Timeout | undefined;

  constructor(deps: OneOffDeps, unit: UnitSpec, container: Partial<Container>, seconds: number) {
    this.#deps = deps;
    this.#seconds = seconds;
    const { settings } = deps;
    const namespace = unit.placement?.options['namespace'] ?? settings.namespace;
    const name = `${unit.app.slice(0, 40)}-run-${randomHex(12)}`;
    // Whatever its command is; the units' own is not run.
    const runnable = { ...unit, command: argvText(container.command ?? ['/bin/sh']), isBuilt: false, listens: false };
    const labels = appLabels(runnable, settings);
    const { containers, ...pod } = podSpec(runnable, settings, name);
    const own = containers.map((one) => ({
      ...one,
      ...container,
      env: [...(one.env ?? []), ...(container.env ?? [])],
    }));
    this.#secret = environmentSecret(name, namespace, labels, environmentOf(runnable));
    this.#where = { namespace, labels: `${JOB_LABEL}=${name}` };
    const selector = { matchLabels: { [JOB_LABEL]: name } };
    this.#policy = { metadata: { name, namespace, labels }, spec: policySpec(selector, unit, null, settings) };
    this.#job = {
      metadata: { name, namespace, labels },
      spec: {
        // Until what it needs is there.
        suspend: true,
        backoffLimit: 0,
        activeDeadlineSeconds: Math.min(seconds, START_MS / 1000 + LEASE_SECONDS),
        ttlSecondsAfterFinished: KEPT_SECONDS,
        template: {
          metadata: { labels },
          spec: { ...pod, containers: own, restartPolicy: 'Never', terminationGracePeriodSeconds: GRACE_SECONDS },
        },
      },
    };
  }

  /** Resolves when its program runs, or has run. */
  async start(signal: AbortSignal): Promise<Pod> {
    const { client } = this.#deps;
    const owner = ownedBy(KINDS.jobs, await client.create(KINDS.jobs, this.#job));
    await Promise.all([
      client.apply(KINDS.secrets, owner(this.#secret)),
      client.apply(KINDS.networkPolicies, owner(this.#policy)),
    ]);
    await client.patch(KINDS.jobs, this.#job.metadata, { spec: { suspend: false } });
    const begun = performance.now();
    const limited = deadline(START_MS, signal);
    try {
      const pod = await this.#podWhen(
        (one) => lifeOf(one).isRunning || lifeOf(one).deaths > 0 || lifeOf(one).isHopeless,
        limited.signal,
      );
      const { isHopeless, reason } = lifeOf(pod);
      if (isHopeless) throw new Failure('internal', `The command cannot be started: ${reason}.`);
      this.#renew(begun);
      this.#renewals = setInterval(() => this.#renew(begun), RENEWED_MS).unref();
      return pod;
    } finally {
      limited.clear();
    }
  }

  async result(signal: AbortSignal): Promise<ExecResult> {
    const limited = deadline(END_MS, signal);
    try {
      const { code, signal: name } = lastEndOf(
        await this.#podWhen((one) => lifeOf(one).deaths > 0 || isOver(one), limited.signal),
      );
      return { code, signal: name };
    } finally {
      limited.clear();
    }
  }

  /** A control that is gone leaves nothing that runs on for a day. */
  #renew(begun: number): void {
    const passed = Math.ceil((performance.now() - begun) / 1000);
    const spec = { activeDeadlineSeconds: Math.min(this.#seconds, passed + LEASE_SECONDS) };
    // It is tried again soon enough.
    this.#deps.client.patch(KINDS.jobs, this.#job.metadata, { spec }).catch(() => undefined);
  }

  /** With its pod, at once. */
  async remove(): Promise<void> {
    clearInterval(this.#renewals);
    const { client } = this.#deps;
    const { items } = await client.list(KINDS.pods, this.#where);
    await client.delete(KINDS.jobs, this.#job.metadata);
    await Promise.all(
      items.map(({ metadata }) => client.delete(KINDS.pods, metadata, { graceSeconds: GRACE_SECONDS })),
    );
  }

  /** Watches are ended and broken off: then it is looked at anew. */
  async #podWhen(isMeant: (pod: Pod) => boolean, signal: AbortSignal): Promise<Pod> {
    const { client } = this.#deps;
    for (;;) {
      signal.throwIfAborted();
      const { items, resourceVersion } = await client.list(KINDS.pods, this.#where, { signal });
      const found = items.find(isMeant);
      if (found !== undefined) return found;
      const until = deadline(60 * LOOK_MS, signal);
      try {
        for await (const event of client.watch(KINDS.pods, this.#where, resourceVersion, { signal: until.signal })) {
          if (event.kind === 'put' && isMeant(event.object)) return event.object;
        }
      } catch (error) {
        if (signal.aborted) throw error;
      } finally {
        until.clear();
      }
    }
  }
}
