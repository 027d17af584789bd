/** How the objects of each kind are addressed. */
import type {
  ClusterNode,
  Deployment,
  EndpointSlice,
  Job,
  KubernetesObject,
  Lease,
  NetworkPolicy,
  Occurrence,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  Secret,
  Service,
} from './objects.ts';

export interface Kind<T extends KubernetesObject> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** Of no meaning: it ties the kind to the type of its objects. */
  readonly example?: T;
}

function kind<T extends KubernetesObject>(
  apiVersion: string,
  name: string,
  plural: string,
  isNamespaced = true,
): Kind<T> {
  return { apiVersion, kind: name, plural, isNamespaced };
}

export const KINDS = {
  deployments: kind<Deployment>('apps/v1', 'Deployment', 'deployments'),
  disruptionBudgets: kind<PodDisruptionBudget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  endpointSlices: kind<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice', 'endpointslices'),
  jobs: kind<Job>('batch/v1', 'Job', 'jobs'),
  leases: kind<Lease>('coordination.k8s.io/v1', 'Lease', 'leases'),
  namespaces: kind<KubernetesObject>('v1', 'Namespace', 'namespaces', false),
  networkPolicies: kind<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  nodes: kind<ClusterNode>('v1', 'Node', 'nodes', false),
  occurrences: kind<Occurrence>('v1', 'Event', 'events'),
  pods: kind<Pod>('v1', 'Pod', 'pods'),
  replicaSets: kind<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets'),
  secrets: kind<Secret>('v1', 'Secret', 'secrets'),
  services: kind<Service>('v1', 'Service', 'services'),
} as const;

/** Below which all of the kind are, in one namespace or, with null, in all of them. */
export function pathOf({ apiVersion, plural, isNamespaced }: Kind<KubernetesObject>, namespace: string | null): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const place = isNamespaced && namespace !== null ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${group}${place}/${plural}`;
}
