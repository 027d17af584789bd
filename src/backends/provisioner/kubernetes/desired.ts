/** Pure: what a unit is to run -> the objects of the cluster that say so. */
import type {
  Container,
  ContainerProbe,
  Deployment,
  NetworkPolicy,
  PodDisruptionBudget,
  PodSpec,
  Secret,
} from '../../../kubernetes/objects.ts';
import type { UnitSpec } from '../../../domain/units/provisioner.ts';
import { Failure } from '../../../domain/failure.ts';
import { containerCommand, escaped } from './container-command.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';
import { LABELS, objectName, ownLabels } from './labels.ts';
import { policySpec } from './pod-network.ts';

/** Of every pod; the one that runs the unit. */
export const CONTAINER = 'app';
/** Above those that only root may listen on. */
export const PORT = 8080;
const GRACE_SECONDS = 30;
/** A node that is lost keeps its units so long; Kubernetes would wait for five minutes. */
const LOST_NODE_SECONDS = 30;
const MIB = 1024 * 1024;
const FIRST_REQUEST_MIB = 64;

export interface Desired {
  readonly namespace: string;
  readonly name: string;
  readonly secret: Secret;
  readonly policy: NetworkPolicy;
  /** Nodes that are emptied take one unit after the other. */
  readonly budget: PodDisruptionBudget;
  /** Of no units yet. */
  readonly deployment: Deployment;
}

/** Equal units of one rollout have equal ones, so they share a Deployment; what differs in anything has another. */
export function desiredOf(spec: UnitSpec, settings: KubernetesSettings): Desired {
  const namespace = spec.placement?.options['namespace'] ?? settings.namespace;
  const labels = appLabels(spec, settings);
  const env = environmentOf(spec);
  const pod = podSpec(spec, settings, '');
  const network = [spec.services ?? [], settings.reachedFrom];
  const name = objectName([spec.app, spec.process], [spec.rollout, labels, sorted(env), pod, network]);
  const own = { ...labels, [LABELS.group]: name };
  const secret = environmentSecret(name, namespace, own, env);
  const selector = { matchLabels: { [LABELS.group]: name } };
  const metadata = { name, namespace, labels: own };
  return {
    namespace,
    name,
    secret,
    policy: { metadata, spec: policySpec(selector, spec, spec.listens ? PORT : null, settings) },
    budget: { metadata, spec: { maxUnavailable: 1, selector } },
    deployment: {
      metadata,
      spec: {
        replicas: 0,
        revisionHistoryLimit: 0,
        selector,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        template: {
          metadata: { labels: own },
          spec: { ...podSpec(spec, settings, name), topologySpreadConstraints: [spread(selector)] },
        },
      },
    },
  };
}

export function appLabels({ app, process }: UnitSpec, { installation }: KubernetesSettings): Record<string, string> {
  return { ...ownLabels(installation), [LABELS.app]: app, [LABELS.process]: process };
}

export function environmentSecret(
  name: string,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Secret {
  const data = sorted(env).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    metadata: { name, namespace, labels },
    type: 'Opaque',
    data: Object.fromEntries(data) as Record<string, string>,
  };
}

/** The name of a unit is that of its pod there: pods of one Deployment are equal. */
export function environmentOf(spec: UnitSpec): Record<string, string> {
  return {
    HOME: '/tmp',
    TMPDIR: '/tmp',
    TANCHO_APP: spec.app,
    TANCHO_PROCESS: spec.process,
    TSURU_APPNAME: spec.app,
    TSURU_PROCESSNAME: spec.process,
    ...spec.env,
    ...(spec.listens && { PORT: `${PORT}` }),
  };
}

/** Whatever order it comes in. */
function sorted(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1));
}

export function podSpec(spec: UnitSpec, settings: KubernetesSettings, secret: string): PodSpec {
  const selector = nodeSelector(spec.placement?.options['node-selector'] ?? '');
  return {
    containers: [container(spec, secret)],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    tolerations: ['not-ready', 'unreachable'].map((name) => ({
      key: `node.kubernetes.io/${name}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: LOST_NODE_SECONDS,
    })),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // As Pod Security "restricted" asks.
    securityContext: {
      runAsNonRoot: true,
      runAsUser: settings.user,
      runAsGroup: settings.user,
      fsGroup: settings.user,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...(settings.imagePullSecret !== null && { imagePullSecrets: [{ name: settings.imagePullSecret }] }),
    ...(Object.keys(selector).length > 0 && { nodeSelector: selector }),
  };
}

function container(spec: UnitSpec, secret: string): Container {
  const { image = '' } = spec;
  const command = containerCommand(spec);
  if (image === '' || command.length === 0) {
    throw new Failure(
      'invalid_config',
      `${spec.process} cannot run on Kubernetes: it has no ${image === '' ? 'image' : 'command'}.`,
      {
        hint: 'Deploy the app once more.',
      },
    );
  }
  const liveness = livenessProbe(spec);
  return {
    name: CONTAINER,
    image,
    imagePullPolicy: 'IfNotPresent',
    command: escaped(command),
    env: [
      { name: 'TANCHO_POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'TANCHO_UNIT', value: `${spec.app}/$(TANCHO_POD)` },
    ],
    envFrom: [{ secretRef: { name: secret } }],
    ...(spec.listens && {
      ports: [{ name: 'http', containerPort: PORT, protocol: 'TCP' as const }],
      readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 3 },
    }),
    ...(liveness !== null && { livenessProbe: liveness }),
    resources: resources(spec),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true },
  };
}

/** Answers that have a body to be looked at are looked at by control; there, whether it answers at all. */
function livenessProbe({ liveness, listens }: UnitSpec): ContainerProbe | null {
  if (liveness === undefined || liveness === null || !listens || liveness.kind === 'command') return null;
  const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
  const times = {
    initialDelaySeconds: seconds(liveness.periodMs),
    periodSeconds: seconds(liveness.periodMs),
    timeoutSeconds: seconds(liveness.timeoutMs),
    failureThreshold: liveness.failures,
  };
  if (liveness.kind === 'accept') return { ...times, tcpSocket: { port: PORT } };
  const { method = 'GET', path = '/', status = 200 } = liveness.healthCheck;
  const isPlain = method.toUpperCase() === 'GET' && status >= 200 && status < 400;
  return isPlain ? { ...times, httpGet: { port: PORT, path } } : { ...times, tcpSocket: { port: PORT } };
}

function resources({ limits }: UnitSpec): NonNullable<Container['resources']> {
  const { memoryBytes, cpuMillis, diskBytes = 0 } = limits;
  const memory = memoryBytes > 0 ? { memory: `${memoryBytes}` } : {};
  return {
    limits: {
      ...memory,
      ...(cpuMillis > 0 && { cpu: `${cpuMillis}m` }),
      ...(diskBytes > 0 && { 'ephemeral-storage': `${diskBytes}` }),
    },
    // What is asked for is what it is placed by: little, for most apps use little.
    requests: {
      memory: `${Math.min(memoryBytes > 0 ? memoryBytes : Infinity, FIRST_REQUEST_MIB * MIB)}`,
      cpu: `${Math.min(cpuMillis > 0 ? cpuMillis : Infinity, 10)}m`,
    },
  };
}

function spread(
  labelSelector: Deployment['spec']['selector'],
): NonNullable<PodSpec['topologySpreadConstraints']>[number] {
  return { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway', labelSelector };
}

/** `disk=ssd,zone=a`, as poolOptions has checked it. */
function nodeSelector(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split('=') as [string, string]));
}
