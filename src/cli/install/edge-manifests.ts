/** Pure: edges of their own in a cluster. They have no rights there. */
import {
  annotationsOf,
  type EdgesWanted,
  type PlatformInstallation,
  LEAVE_SECONDS,
  LOW_PORTS,
  made,
  type ClusterObject,
  NAME,
  PORTS,
  TELLS_WHY,
} from './manifests.ts';

export const EDGES = `${NAME}-edges`;
const HOME = '/var/lib/tancho';
const USER = 1000;
const GRACE_SECONDS = 60;
const OUTSIDE = { apps: 80, 'apps-tls': 443 } as const;
const LABELS = { 'app.kubernetes.io/name': EDGES };
const WITHOUT = new Set(['TANCHO_EDGE', 'TANCHO_EDGE_LISTEN', 'TANCHO_TLS_LISTEN']);

export function edgeManifests(installation: PlatformInstallation, edges: EdgesWanted | null): ClusterObject[] {
  if (edges === null) return [];
  const own = { namespace: installation.namespace };
  const { where, token } = edges;
  const selector = { matchLabels: LABELS };
  const metadata = { labels: LABELS, annotations: annotationsOf({ token }) };
  const template = { metadata, spec: podSpec(installation, where === 'nodes') };
  const secret = made('v1', 'Secret', EDGES, own, {
    type: 'Opaque',
    data: { TANCHO_EDGE_TOKEN: Buffer.from(token).toString('base64') },
  });
  if (where === 'nodes') {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
    // Balancers send to the one node again before the next one leaves.
    const spec = { selector, minReadySeconds: LEAVE_SECONDS, updateStrategy, template };
    return [secret, made('apps/v1', 'DaemonSet', EDGES, own, { spec })];
  }
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
  return [
    secret,
    made('apps/v1', 'Deployment', EDGES, own, { spec: { replicas: where, selector, strategy, template } }),
    made('policy/v1', 'PodDisruptionBudget', EDGES, own, { spec: { maxUnavailable: 1, selector } }),
    made('v1', 'Service', EDGES, own, {
      spec: {
        type: installation.serviceType,
        selector: LABELS,
        ports: [
          { name: 'http', port: OUTSIDE.apps, targetPort: 'apps' },
          { name: 'https', port: OUTSIDE['apps-tls'], targetPort: 'apps-tls' },
        ],
      },
    }),
  ];
}

function podSpec({ namespace, image, pullSecret, settings }: PlatformInstallation, isAtNode: boolean): object {
  const ofEdges = Object.entries(settings).filter(
    ([name]) => /^TANCHO_(?:EDGE|TLS|HTTP2|TRUSTED)_/.test(`${name}_`) && !WITHOUT.has(name),
  );
  const env = {
    ...{ TANCHO_HOME: HOME, HOME, TANCHO_EDGE_LISTEN: `:${PORTS.apps}`, TANCHO_TLS_LISTEN: `:${PORTS['apps-tls']}` },
    ...Object.fromEntries(ofEdges),
  };
  const name = isAtNode ? 'spec.nodeName' : 'metadata.name';
  const user = { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER };
  const ports = (['apps', 'apps-tls'] as const).map((port) => ({
    name: port,
    containerPort: PORTS[port],
    ...(isAtNode && { hostPort: OUTSIDE[port] }),
  }));
  return {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    enableServiceLinks: false,
    securityContext: { ...user, ...LOW_PORTS, fsGroup: USER, seccompProfile: { type: 'RuntimeDefault' } },
    ...(pullSecret !== null && { imagePullSecrets: [{ name: pullSecret }] }),
    ...(isAtNode && { tolerations: [{ operator: 'Exists', effect: 'NoSchedule' }] }),
    containers: [
      {
        name: 'edge',
        image,
        command: ['tancho', 'edge', 'run', '--name', '$(EDGE_NAME)', '--server', `http://${NAME}.${namespace}`],
        ...TELLS_WHY,
        env: [
          { name: 'EDGE_NAME', valueFrom: { fieldRef: { fieldPath: name } } },
          ...Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
        ],
        envFrom: [{ secretRef: { name: EDGES } }],
        ports,
        // It takes connections before it has heard which apps there are.
        readinessProbe: { httpGet: { path: '/healthcheck', port: 'apps' }, periodSeconds: 2, timeoutSeconds: 5 },
        livenessProbe: { tcpSocket: { port: 'apps' }, initialDelaySeconds: 30, periodSeconds: 20, failureThreshold: 6 },
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '1Gi' } },
        securityContext: { ...user, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'home', mountPath: HOME }],
      },
    ],
    volumes: [{ name: 'home', emptyDir: {} }],
  };
}
