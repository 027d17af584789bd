/** Commands and shells beside the units: a Job each, which Kubernetes ends and removes by itself when control does not. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesClient } from '../../../kubernetes/client.ts';
import { KINDS } from '../../../kubernetes/kinds.ts';
import { EXPIRED, isPassing, isStatus } from '../../../kubernetes/kubernetes-error.ts';
import type { Container, Job, NetworkPolicy, Pod, Secret } from '../../../kubernetes/objects.ts';
import { Failure } from '../../../domain/failure.ts';
import type { ExecRequest, ExecResult, Shell, ShellRequest, UnitSpec } from '../../../domain/units/provisioner.ts';
import { argvText } from '../../../lib/argv-text.ts';
import { deadline } from '../../../lib/deadline.ts';
import { randomHex } from '../../../lib/ids.ts';
import type { Logger } from '../../../lib/logger.ts';
import { escaped } from './container-command.ts';
import { appLabels, CONTAINER, environmentOf, environmentSecret, podSpec } from './desired.ts';
import { ownedBy } from './groups.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';
import { policySpec } from './pod-network.ts';
import { isOver, lastEndOf, lifeOf, PLACE_MS, PULL_HINT, Tries } from './pod-state.ts';
import { After, podLog } from './unit-output.ts';

const JOB_LABEL = 'batch.kubernetes.io/job-name';
/** How long Kubernetes keeps what has ended, in case control has not removed it. */
const KEPT_SECONDS = 60;
const GRACE_SECONDS = 1;
/** Shells have no end of their own. */
const SHELL_SECONDS = 24 * 3600;
/** Kubernetes ends it so long after control has said for the last time that somebody waits for it. */
const LEASE_SECONDS = 30;
const RENEWED_MS = 10_000;
const END_MS = 60_000;
/** It is looked at anew after it at the latest, whatever a watch says. */
const LOOK_MS = 15_000;
/** Before what broke off is opened again. */
const PAUSE_MS = 1_000;
/** So often in a row the output of what has ended is asked for. */
const LAST_TRIES = 5;

interface OneOffDeps {
  readonly client: KubernetesClient;
  readonly settings: KubernetesSettings;
  readonly logger: Logger;
}

/** Output of both kinds is one stream, in the order in which the node has it. The time counts from when the command is seen to run. */
export async function runCommand(deps: OneOffDeps, request: ExecRequest): Promise<ExecResult> {
  const { unit, command, timeoutMs, signal } = request;
  const seconds = Math.ceil((PLACE_MS + timeoutMs + END_MS) / 1000);
  const job = new OneOff(deps, unit, ['/bin/sh', '-c', `exec 2>&1\n${command}`], seconds);
  try {
    signal.throwIfAborted();
    return await followed(job, await job.start(signal), request);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Failure('cancelled', 'The command was ended.');
  } finally {
    await job.remove();
  }
}

async function followed(job: OneOff, pod: Pod, { timeoutMs, signal, output }: ExecRequest): Promise<ExecResult> {
  const limited = deadline(timeoutMs, signal);
  try {
    for (;;) {
      await job.print(pod, output, limited.signal).catch((error: unknown) => {
        if (signal.aborted || !limited.signal.aborted) throw error;
        throw new Failure('timeout', 'The command was ended: it took too long.');
      });
      // What it printed was in time: the cluster may say later that it has ended.
      const end = await job.end(signal);
      if (end !== null) return end;
    }
  } finally {
    limited.clear();
  }
}

export async function openShell(deps: OneOffDeps, request: ShellRequest): Promise<Shell> {
  const { unit, term, size, output, signal } = request;
  const isTerminal = size !== null;
  const streams = { stdin: true, stdinOnce: true, tty: isTerminal };
  const more = { ...streams, env: escaped([term]).map((value) => ({ name: 'TERM', value })) };
  const job = new OneOff(deps, unit, ['/bin/sh'], SHELL_SECONDS, more);
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
        return (signal.aborted ? null : await job.end(signal)) ?? { code: null, signal: 'SIGKILL' };
      } catch {
        return { code: null, signal: 'SIGKILL' };
      } finally {
        await job.remove();
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
  #renewedAt = 0;
  readonly #printed = new After(null);
  /** As it was last seen; null: it was not there. */
  #pod: Pod | null = null;

  constructor(
    deps: OneOffDeps,
    unit: UnitSpec,
    command: readonly string[],
    seconds: number,
    more: Omit<Partial<Container>, 'command'> = {},
  ) {
    this.#deps = deps;
    this.#seconds = seconds;
    const { settings } = deps;
    const namespace = unit.placement?.options['namespace'] ?? settings.namespace;
    const name = `${unit.app.slice(0, 40)}-run-${randomHex(12)}`;
    // Whatever its command is; the units' own is not run.
    const runnable = { ...unit, command: argvText(command), isBuilt: false, listens: false };
    const labels = appLabels(runnable, settings);
    const { containers, ...pod } = podSpec(runnable, settings, name);
    const own = containers.map((one) => ({
      ...one,
      ...more,
      env: [...(one.env ?? []), ...(more.env ?? [])],
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
        activeDeadlineSeconds: LEASE_SECONDS,
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
    this.#keepLease();
    const tries = new Tries();
    const isDecided = (one: Pod): boolean => {
      const life = lifeOf(one);
      return life.isRunning || life.deaths > 0 || tries.isGivenUp(life) || isOver(one);
    };
    const pod = await this.#podWhen(isDecided, PLACE_MS, signal);
    const life = pod === null ? null : lifeOf(pod);
    if (pod !== null && (life?.isRunning === true || (life?.deaths ?? 0) > 0)) return pod;
    const why = this.#pod === null ? '' : lifeOf(this.#pod).reason;
    const reason = why === '' ? '' : `: ${why}`;
    if (pod === null)
      throw new Failure('timeout', `The command was not started within ${PLACE_MS / 60_000} minutes${reason}.`, {
        hint: 'Ask an operator what the cluster lacks.',
      });
    if (isOver(pod)) throw new Failure('internal', `The command was ended before it began${reason}.`);
    throw new Failure('pull_failed', `The command cannot be started${reason}.`, { hint: PULL_HINT });
  }

  /** Resolves when all of its output was given. A stream that breaks off says nothing of the program: it is read on from there. */
  async print(pod: Pod, output: ExecRequest['output'], signal: AbortSignal): Promise<void> {
    const position = this.#printed;
    for (let triesLeft = LAST_TRIES; triesLeft > 0;) {
      try {
        const options = { since: position.since, follow: true, signal, onPart: () => position.rewind() };
        for await (const lines of podLog(this.#deps.client, pod, options)) {
          for (const line of lines) {
            const one = position.take(line);
            if (one === null) continue;
            triesLeft = LAST_TRIES;
            await output(Buffer.from(`${one.text}\n`));
          }
        }
        return;
      } catch (error) {
        if (isStatus(error, 404)) return;
        // Once nobody has said for so long that it is waited for, Kubernetes has ended it.
        const isLost = performance.now() - this.#renewedAt > LEASE_SECONDS * 1000;
        if (signal.aborted || !isPassing(error) || isLost) throw error;
      }
      if ((await this.#podWhen(isOver, PAUSE_MS, signal)) === null) continue;
      await delay(PAUSE_MS, undefined, { signal });
      triesLeft -= 1;
    }
    await output(Buffer.from('[the node does not give the rest of the output]\n'));
  }

  /** Null: it runs on. Throws Failure `internal` where nobody knows. */
  async end(signal: AbortSignal): Promise<ExecResult | null> {
    const pod = await this.#podWhen((one) => lifeOf(one).deaths > 0 || isOver(one), END_MS, signal);
    if (pod === null && this.#pod !== null) return null;
    if (pod === null) throw new Failure('internal', 'The pod of the command is gone: nobody knows how it ended.');
    const { code, signal: name } = lastEndOf(pod);
    return { code, signal: name };
  }

  /** A control that is gone leaves nothing that runs on for a day. */
  #keepLease(): void {
    const begun = performance.now();
    this.#renewedAt = begun;
    const renew = async (): Promise<void> => {
      const at = performance.now();
      const passed = Math.ceil((at - begun) / 1000);
      const spec = { activeDeadlineSeconds: Math.min(this.#seconds, passed + LEASE_SECONDS) };
      await this.#deps.client.patch(KINDS.jobs, this.#job.metadata, { spec });
      this.#renewedAt = at;
    };
    // It is tried again soon enough.
    this.#renewals = setInterval(() => void renew().catch(() => undefined), RENEWED_MS).unref();
  }

  /** With its pod, at once; what is left of it then, Kubernetes ends and removes. */
  async remove(): Promise<void> {
    clearInterval(this.#renewals);
    const { client, logger } = this.#deps;
    try {
      const { items } = await client.list(KINDS.pods, this.#where);
      await client.delete(KINDS.jobs, this.#job.metadata);
      await Promise.all(
        items.map(({ metadata }) => client.delete(KINDS.pods, metadata, { graceSeconds: GRACE_SECONDS })),
      );
    } catch (error) {
      logger.warn({ err: error, job: this.#job.metadata.name }, 'a command could not be removed');
    }
  }

  /** Null: none within the time. Watches are ended and broken off, and servers are away for a while: then it is looked at anew. */
  async #podWhen(isMeant: (pod: Pod) => boolean, ms: number, signal: AbortSignal): Promise<Pod | null> {
    const { client } = this.#deps;
    const limited = deadline(ms, signal);
    try {
      while (!limited.signal.aborted) {
        const until = deadline(LOOK_MS, limited.signal);
        try {
          const { items, resourceVersion } = await client.list(KINDS.pods, this.#where, { signal: limited.signal });
          const found = items.find(isMeant);
          this.#pod = found ?? items[0] ?? null;
          if (found !== undefined) return found;
          for await (const event of client.watch(KINDS.pods, this.#where, resourceVersion, { signal: until.signal })) {
            if (event.kind !== 'put') continue;
            this.#pod = event.object;
            if (isMeant(event.object)) return event.object;
          }
        } catch (error) {
          if (!limited.signal.aborted && !until.signal.aborted && !isPassing(error) && !isStatus(error, EXPIRED))
            throw error;
          await delay(PAUSE_MS, undefined, { signal: limited.signal }).catch(() => undefined);
        } finally {
          until.clear();
        }
      }
      signal.throwIfAborted();
      return null;
    } finally {
      limited.clear();
    }
  }
}
