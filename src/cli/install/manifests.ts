/** Pure: what a platform in a cluster consists of, as objects of Kubernetes. */
import { createHash } from 'node:crypto';
import { SETTINGS } from '../../config/schema.ts';
import { LESS_MEMORY } from '../../lib/less-memory.ts';

export interface PlatformInstallation {
  readonly namespace: string;
  readonly appsNamespace: string;
  readonly image: string;
  readonly servers: number;
  readonly serviceType: string;
  readonly pullSecret: string | null;
  /** Null: servers have theirs, and there are no others. */
  readonly edges: EdgesWanted | null;
  readonly buildsCode: boolean;
  readonly showsUsage: boolean;
  /** Variables of docs/config.md. */
  readonly settings: Readonly<Record<string, string>>;
  /** Those whose values nobody is to see. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface EdgesWanted {
  /** `nodes`: one on each, at its ports 80 and 443; else so many behind a Service. */
  readonly where: 'nodes' | number;
  readonly token: string;
}

/** An object, and how its kind is addressed. */
export interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels: Record<string, string> };
  readonly [part: string]: unknown;
}

export const NAME = 'tancho';
/** Those of apps are the ones that clients come to: an edge redirects to its own port, and addresses of apps are shown with it. */
export const PORTS = { api: 8080, ssh: 2222, apps: 80, 'apps-tls': 443 } as const;
/** Lets pods without the capability have them; Pod Security "restricted" allows it. */
export const LOW_PORTS = { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] } as const;
const HOME = '/var/lib/tancho';
const USER = 1000;
const DIGEST_DIGITS = 16;
/** What a container that failed has said last is in the state of its pod. */
export const TELLS_WHY = { terminationMessagePolicy: 'FallbackToLogsOnError' } as const;
/** Balancers have taken a pod out by then; and for as long clients are asked to close what they have open. */
export const LEAVE_SECONDS = 10;
const GRACE_SECONDS = 120;
const RIGHTS_GROUP = 'rbac.authorization.k8s.io';
const RIGHTS = `${RIGHTS_GROUP}/v1`;
/** Of everything that is made here, and of nothing else. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'tancho-install' } as const;
const LABELS = { 'app.kubernetes.io/name': NAME, ...MANAGED_BY };

/**
 * What sandboxes of builds are made with, found by taking away one after the other (test/scenarios/building-pod.long.test.ts): namespaces and mounts (SYS_ADMIN, which
 * no default filter lets do `pivot_root`), a network for each (NET_ADMIN), users of their own, and a /proc of which nothing is covered, for the kernel
 * shows none in a user namespace otherwise. No devices, and nothing of the node.
 */
const BUILDING = {
  pod: {
    ...LOW_PORTS,
    runAsUser: 0,
    runAsGroup: 0,
    seccompProfile: { type: 'Unconfined' },
    appArmorProfile: { type: 'Unconfined' },
  },
  command: ['/bin/sh', '-c', 'mount -t proc proc /proc && exec tancho server'],
  container: {
    capabilities: {
      drop: ['ALL'],
      add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_ADMIN', 'SETGID', 'SETUID', 'SYS_ADMIN'],
    },
  },
} as const;

/** What a login may do where the apps are; docs/engines.md says the same. */
const APP_RIGHTS = [
  rule('apps', ['deployments'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('batch', ['jobs'], ['get', 'list', 'watch', 'create', 'patch', 'delete']),
  rule('', ['pods'], ['get', 'list', 'watch', 'patch', 'delete']),
  rule('', ['secrets'], ['get', 'create', 'patch']),
  rule('networking.k8s.io', ['networkpolicies'], ['get', 'create', 'patch']),
  rule('policy', ['poddisruptionbudgets'], ['get', 'create', 'patch']),
  rule('', ['pods/log'], ['get']),
  rule('', ['pods/attach'], ['create', 'get']),
];

/** In the order in which they are to be made. */
export function manifestsOf(installation: PlatformInstallation): ClusterObject[] {
  const { namespace, appsNamespace, secrets } = installation;
  const data = Object.entries(secrets).map(([name, value]) => [name, Buffer.from(value).toString('base64')]);
  const own = { namespace };
  const account = { kind: 'ServiceAccount', name: NAME, namespace };
  const rights = rightsOf(namespace);
  // Neither "restricted" nor "baseline" allows ports of nodes.
  const hasNodePorts = installation.edges?.where === 'nodes';
  const level = installation.buildsCode || hasNodePorts ? 'privileged' : 'restricted';
  return [
    made('v1', 'Namespace', namespace, {}, {}, { 'pod-security.kubernetes.io/enforce': level }),
    made('v1', 'Namespace', appsNamespace, {}, {}, { 'pod-security.kubernetes.io/enforce': 'restricted' }),
    made('v1', 'ServiceAccount', NAME, own, {}),
    made(RIGHTS, 'Role', rights, { namespace: appsNamespace }, { rules: APP_RIGHTS }),
    made(RIGHTS, 'RoleBinding', rights, { namespace: appsNamespace }, bound('Role', rights, account)),
    ...(installation.showsUsage ? usageRights(rights, account) : []),
    made('v1', 'Secret', NAME, own, { type: 'Opaque', data: Object.fromEntries(data) as Record<string, string> }),
    made('apps/v1', 'Deployment', NAME, own, { spec: deploymentSpec(installation) }),
    made('policy/v1', 'PodDisruptionBudget', NAME, own, { spec: { maxUnavailable: 1, selector: selector() } }),
    made('v1', 'Service', NAME, own, { spec: service('ClusterIP', { http: 'api', ssh: 'ssh' }) }),
    made('v1', 'Service', `${NAME}-edge`, own, {
      spec: service(installation.serviceType, { http: 'apps', https: 'apps-tls', ssh: 'ssh' }),
    }),
  ];
}

/**
 * For the template of pods that have these variables from a Secret: pods of the Secret before are replaced, which Kubernetes does not do by itself.
 * A key or token is among the values, so nobody finds them by trying.
 */
export function annotationsOf(secrets: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(secrets).sort(([left], [right]) => (left < right ? -1 : 1));
  const digest = createHash('sha256').update(JSON.stringify(entries)).digest('hex');
  return { 'tancho.dev/secret': digest.slice(0, DIGEST_DIGITS) };
}

export function made(
  apiVersion: string,
  kind: string,
  name: string,
  place: { readonly namespace?: string },
  parts: Readonly<Record<string, unknown>>,
  labels: Readonly<Record<string, string>> = {},
): ClusterObject {
  return { apiVersion, kind, metadata: { name, ...place, labels: { ...LABELS, ...labels } }, ...parts };
}

function rule(group: string, resources: readonly string[], verbs: readonly string[]): object {
  return { apiGroups: [group], resources, verbs };
}

/** Other installations have theirs beside them, in the whole cluster and where they share a namespace of apps. */
function rightsOf(namespace: string): string {
  return `${NAME}-${namespace}`;
}

function bound(kind: string, name: string, account: object): Record<string, unknown> {
  return { roleRef: { apiGroup: RIGHTS_GROUP, kind, name }, subjects: [account] };
}

function usageRights(name: string, account: object): ClusterObject[] {
  return [
    made(RIGHTS, 'ClusterRole', name, {}, { rules: [rule('', ['nodes/proxy'], ['get'])] }),
    made(RIGHTS, 'ClusterRoleBinding', name, {}, bound('ClusterRole', name, account)),
  ];
}

/** Rights by the name that all installations had for theirs before; each binding with its role. */
export function earlierRights(appsNamespace: string): (readonly [binding: ClusterObject, role: ClusterObject])[] {
  return [
    [made(RIGHTS, 'ClusterRoleBinding', NAME, {}, {}), made(RIGHTS, 'ClusterRole', NAME, {}, {})],
    [
      made(RIGHTS, 'RoleBinding', NAME, { namespace: appsNamespace }, {}),
      made(RIGHTS, 'Role', NAME, { namespace: appsNamespace }, {}),
    ],
  ];
}

function selector(): object {
  return { matchLabels: { 'app.kubernetes.io/name': NAME } };
}

const SERVICE_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ssh: 22 };

function service(type: string, ports: Readonly<Record<string, keyof typeof PORTS>>): object {
  return {
    type,
    selector: { 'app.kubernetes.io/name': NAME },
    ports: Object.entries(ports).map(([name, target]) => ({
      name,
      port: SERVICE_PORTS[name] ?? PORTS[target],
      targetPort: target,
    })),
  };
}

function deploymentSpec(installation: PlatformInstallation): object {
  const { servers, image, pullSecret, buildsCode, secrets } = installation;
  const env = { TANCHO_HOME: HOME, HOME, ...LESS_MEMORY, ...installation.settings };
  return {
    replicas: servers,
    revisionHistoryLimit: 2,
    selector: selector(),
    // One after the other: two versions that follow each other work side by side.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    template: {
      metadata: { labels: LABELS, annotations: annotationsOf(secrets) },
      spec: {
        serviceAccountName: NAME,
        terminationGracePeriodSeconds: GRACE_SECONDS,
        enableServiceLinks: false,
        securityContext: buildsCode
          ? BUILDING.pod
          : { ...asUser(), ...LOW_PORTS, fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
        ...(pullSecret !== null && { imagePullSecrets: [{ name: pullSecret }] }),
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: selector(),
          },
        ],
        containers: [
          {
            name: NAME,
            image,
            command: buildsCode ? BUILDING.command : ['tancho', 'server'],
            ...TELLS_WHY,
            env: Object.entries(env).map(([name, value]) => ({ name, value })),
            envFrom: [{ secretRef: { name: NAME } }],
            ports: Object.entries(PORTS).map(([name, containerPort]) => ({ name, containerPort })),
            ...probesOf(env),
            // The edge ends with the container: first nobody new comes, then who is there is answered.
            lifecycle: {
              preStop: {
                exec: { command: ['/bin/sh', '-c', `sleep ${LEAVE_SECONDS}; exec tancho server stop --all`] },
              },
            },
            resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: buildsCode ? '4Gi' : '1Gi' } },
            securityContext: buildsCode
              ? BUILDING.container
              : { ...asUser(), allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            volumeMounts: [{ name: 'home', mountPath: HOME }],
          },
        ],
        // A copy of what is in the database, and caches.
        volumes: [{ name: 'home', emptyDir: {} }],
      },
    },
  };
}

/**
 * Only a start waits for the database. From then on a pod gets requests as long as its edge serves: a database that is away is away for all of them, and apps do
 * not need it. Nor does what shows that the server is alive.
 */
function probesOf(env: Readonly<Record<string, string>>): object {
  const { ownEdge, proxyProtocol } = SETTINGS;
  const isOn = (setting: typeof ownEdge): boolean => (env[setting.variable] || setting.default) === 'on';
  const started = { httpGet: { path: '/healthcheck', port: 'api' } };
  // The kubelet may be among the trusted proxies, and sends no header of the PROXY protocol.
  const serves = isOn(proxyProtocol)
    ? { tcpSocket: { port: 'apps' } }
    : { httpGet: { path: '/healthcheck', port: 'apps' } };
  return {
    startupProbe: { ...started, periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 90 },
    readinessProbe: { ...(isOn(ownEdge) ? serves : started), periodSeconds: 2, timeoutSeconds: 5 },
    livenessProbe: {
      httpGet: { path: '/info', port: 'api' },
      ...{ periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 6 },
    },
  };
}

function asUser(): object {
  return { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER };
}
