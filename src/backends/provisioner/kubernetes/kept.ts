/** Pure: what is remembered of the objects that are known at all times, of which there may be many thousands: what somebody here looks at. */
import type {
  Condition,
  ContainerState,
  ContainerStatus,
  Deployment,
  Metadata,
  Pod,
} from '../../../kubernetes/objects.ts';
import { CONTAINER } from './desired.ts';
import { ANNOTATIONS, LABELS } from './labels.ts';

const TELLING = new Set(['Ready', 'PodScheduled']);

/** What nearly all of them have is there once, and not in each. */
const NO_CONTAINERS: Pod['spec']['containers'] = [];
const NOTHING: Readonly<Record<string, string>> = {};
const RUNNING: ContainerState = { running: {} };
const SERVES: ContainerStatus = { name: CONTAINER, ready: true, restartCount: 0, state: RUNNING };
const BEGINS: ContainerStatus = { ...SERVES, ready: false };
const PLAIN = new Map<string, Condition>();

export function keptPod({ metadata, spec, status }: Pod): Pod {
  const own = status?.containerStatuses?.find(({ name }) => name === CONTAINER);
  return {
    metadata: keptMetadata(metadata, [LABELS.group], [ANNOTATIONS.reported]),
    spec: { containers: NO_CONTAINERS, ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }) },
    ...(status !== undefined && {
      status: {
        ...(status.phase !== undefined && { phase: status.phase }),
        ...(status.podIP !== undefined && { podIP: status.podIP }),
        ...(status.message !== undefined && { message: status.message }),
        conditions: (status.conditions ?? []).filter(({ type }) => TELLING.has(type)).map(keptCondition),
        ...(own !== undefined && { containerStatuses: [keptStatus(own)] }),
      },
    }),
  };
}

export function keptDeployment({ metadata, spec }: Deployment): Deployment {
  const ports = spec.template.spec.containers.map(({ name, image, ports: own }) => ({
    ...{ name, image },
    ...(own !== undefined && { ports: own }),
  }));
  return {
    metadata: keptMetadata(metadata, [LABELS.app, LABELS.group], [ANNOTATIONS.units]),
    spec: {
      ...{ replicas: spec.replicas, selector: {} },
      template: { metadata: {}, spec: { containers: ports } },
    },
  };
}

function keptStatus({ name, ready, restartCount, state, lastState }: ContainerStatus): ContainerStatus {
  if (restartCount === 0 && state?.running !== undefined && lastState?.terminated === undefined)
    return ready ? SERVES : BEGINS;
  return {
    ...{ name, ready, restartCount },
    ...(state !== undefined && { state: state.running === undefined ? state : RUNNING }),
    ...(lastState?.terminated !== undefined && { lastState }),
  };
}

function keptCondition({ type, status, reason, message }: Condition): Condition {
  if (reason !== undefined || message !== undefined) {
    return { type, status, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  }
  const key = `${type} ${status}`;
  const plain = PLAIN.get(key) ?? { type, status };
  PLAIN.set(key, plain);
  return plain;
}

function keptMetadata(metadata: Metadata, labels: readonly string[], annotations: readonly string[]): Metadata {
  const { name, namespace, uid, resourceVersion, deletionTimestamp } = metadata;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    labels: only(metadata.labels, labels),
    annotations: only(metadata.annotations, annotations),
  };
}

function only(all: Readonly<Record<string, string>> = {}, keys: readonly string[]): Readonly<Record<string, string>> {
  const found = keys.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]] as const]));
  return found.length === 0 ? NOTHING : Object.fromEntries(found);
}
