/** Pure: what the status of a pod says of the unit that it runs. */
import { constants } from 'node:os';
import type { ContainerState, Pod } from '../../../kubernetes/objects.ts';
import { CONTAINER } from './desired.ts';
import type { UnitEnd } from './unit-book.ts';

const SIGNAL_NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));
const KILLED: UnitEnd = { code: null, signal: 'SIGKILL', outOfMemory: false };
/** Why a container waits, where its reason is no word for people. */
const WAITING: Readonly<Record<string, string>> = {
  ErrImagePull: 'its image cannot be pulled',
  ImagePullBackOff: 'its image cannot be pulled',
  InvalidImageName: 'the name of its image is not valid',
  CreateContainerConfigError: 'it cannot be started',
  CreateContainerError: 'it cannot be started',
  ContainerCreating: 'it is being started',
  PodInitializing: 'it is being started',
};
/** Nothing that waiting would mend. */
const HOPELESS = 'InvalidImageName';
/** What the kubelet tries again by itself: a registry may be busy, or away, for a moment. */
const TRIED_AGAIN = new Set(['ErrImagePull', 'ImagePullBackOff', 'CreateContainerConfigError', 'CreateContainerError']);
const TRIED_MS = 60_000;
/** For a node to be found and the image to be there: no time of the app. */
export const PLACE_MS = 600_000;
export const PULL_HINT = 'Deploy an image that the nodes of the cluster can pull and run.';

export interface PodLife {
  /** Ends of its container so far. */
  readonly deaths: number;
  /** Of the last one; null: there was none. */
  readonly lastEnd: (UnitEnd & { readonly at: string }) | null;
  readonly isRunning: boolean;
  /** Half a sentence: why it does not run (yet). */
  readonly reason: string;
  /** Its start has failed: it does not come to run by waiting (`for good`), or is tried again. */
  readonly failed: 'for good' | 'for now' | null;
}

/** For how long the first start of one pod is tried. */
export class Tries {
  #since: number | null = null;

  /** `at`: on a clock in milliseconds. */
  isGivenUp({ failed }: Pick<PodLife, 'failed'>, at = performance.now()): boolean {
    if (failed === 'for now') this.#since ??= at;
    return failed === 'for good' || (failed === 'for now' && at - (this.#since ?? at) >= TRIED_MS);
  }
}

export function lifeOf(pod: Pod): PodLife {
  const { status } = pod;
  const seen = status?.containerStatuses?.find(({ name }) => name === CONTAINER);
  const last = seen?.state?.terminated ?? seen?.lastState?.terminated;
  const isBetween = seen?.state?.running === undefined && last !== undefined;
  const waiting = seen?.state?.waiting;
  return {
    deaths: (seen?.restartCount ?? 0) + (isBetween ? 1 : 0),
    lastEnd: last === undefined ? null : { ...endOf(last), at: last.finishedAt ?? new Date(0).toISOString() },
    isRunning: seen?.state?.running !== undefined,
    reason: reasonOf(pod, waiting),
    failed: last === undefined ? failedStart(waiting?.reason ?? '') : null,
  };
}

function failedStart(reason: string): PodLife['failed'] {
  if (reason === HOPELESS) return 'for good';
  return TRIED_AGAIN.has(reason) ? 'for now' : null;
}

/** How a unit ended whose pod is gone: what was last seen of it, or nobody knows. */
export function lastEndOf(pod: Pod): UnitEnd {
  const { lastEnd, isRunning } = lifeOf(pod);
  if (lastEnd === null || isRunning) return KILLED;
  const { at: _at, ...end } = lastEnd;
  return end;
}

export function isOver({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Its node says nothing any more: the cluster has noted the pod as not ready, the node, whose word all else is, has not. Nobody knows whether it runs. */
export function isUnreachable({ status }: Pod): boolean {
  const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
  const seen = status?.containerStatuses?.find(({ name }) => name === CONTAINER);
  return !isReady && seen?.ready === true;
}

function endOf({ exitCode, signal, reason }: NonNullable<ContainerState['terminated']>): UnitEnd {
  const number = signal !== undefined && signal > 0 ? signal : exitCode > 128 ? exitCode - 128 : null;
  const name = number === null ? undefined : SIGNAL_NAMES.get(number);
  return name === undefined
    ? { code: exitCode, signal: null, outOfMemory: reason === 'OOMKilled' }
    : { code: null, signal: name, outOfMemory: reason === 'OOMKilled' };
}

function reasonOf({ status }: Pod, waiting: ContainerState['waiting']): string {
  if (waiting?.reason !== undefined && waiting.reason !== 'CrashLoopBackOff') {
    const words = WAITING[waiting.reason] ?? waiting.reason;
    return waiting.message === undefined ? words : `${words}: ${waiting.message.slice(0, 300)}`;
  }
  const unplaced = status?.conditions?.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False');
  if (unplaced !== undefined) return `no node takes it: ${(unplaced.message ?? unplaced.reason ?? '').slice(0, 300)}`;
  return status?.message ?? status?.reason ?? '';
}
