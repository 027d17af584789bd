/** The few kinds of objects that are used, as far as they are: only fields that somebody reads or writes. */

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    readonly values?: readonly string[];
  }[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
  }[];
  readonly envFrom?: readonly { readonly secretRef: { readonly name: string } }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: 'TCP' }[];
  readonly resources?: {
    readonly limits?: Readonly<Record<string, string>>;
    readonly requests?: Readonly<Record<string, string>>;
  };
  readonly readinessProbe?: ContainerProbe;
  readonly livenessProbe?: ContainerProbe;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

export interface ContainerProbe {
  readonly tcpSocket?: { readonly port: number };
  readonly httpGet?: { readonly port: number; readonly path: string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
  readonly successThreshold?: number;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly tolerations?: readonly Readonly<Record<string, unknown>>[];
  readonly topologySpreadConstraints?: readonly {
    readonly maxSkew: number;
    readonly topologyKey: string;
    readonly whenUnsatisfiable: 'ScheduleAnyway' | 'DoNotSchedule';
    readonly labelSelector: LabelSelector;
  }[];
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string;
  readonly message?: string;
}

export interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly podIP?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface Deployment extends KubernetesObject {
  readonly spec: {
    readonly replicas: number;
    readonly selector: LabelSelector;
    readonly template: { readonly metadata: Omit<Metadata, 'name'>; readonly spec: PodSpec };
    readonly strategy?: Readonly<Record<string, unknown>>;
    readonly revisionHistoryLimit?: number;
    readonly progressDeadlineSeconds?: number;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface ReplicaSet extends KubernetesObject {
  readonly spec: Deployment['spec'];
  readonly status?: Deployment['status'];
}

export interface Secret extends KubernetesObject {
  readonly type?: string;
  /** Each in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface Service extends KubernetesObject {
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly clusterIP?: string;
    readonly ports: readonly { readonly name?: string; readonly port: number; readonly targetPort: number }[];
    readonly publishNotReadyAddresses?: boolean;
  };
}

export interface PodDisruptionBudget extends KubernetesObject {
  readonly spec: { readonly maxUnavailable?: number | string; readonly selector: LabelSelector };
}

interface NetworkPeer {
  readonly podSelector?: LabelSelector;
  readonly namespaceSelector?: LabelSelector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

interface NetworkPort {
  readonly port?: number;
  readonly protocol?: 'TCP' | 'UDP';
}

export interface NetworkPolicy extends KubernetesObject {
  readonly spec: {
    readonly podSelector: LabelSelector;
    readonly policyTypes: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly { readonly from?: readonly NetworkPeer[]; readonly ports?: readonly NetworkPort[] }[];
    readonly egress?: readonly { readonly to?: readonly NetworkPeer[]; readonly ports?: readonly NetworkPort[] }[];
  };
}

export interface EndpointSlice extends KubernetesObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN';
  readonly endpoints: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
    readonly nodeName?: string;
    readonly targetRef?: { readonly kind?: string; readonly name?: string; readonly uid?: string };
  }[];
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
}

/** Of `v1`: what somebody in the cluster has noticed. */
export interface Occurrence extends KubernetesObject {
  readonly involvedObject: { readonly kind?: string; readonly name?: string; readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly type?: 'Normal' | 'Warning';
  readonly lastTimestamp?: string;
}

export interface ClusterNode extends KubernetesObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
  };
}

export interface Job extends KubernetesObject {
  readonly spec: {
    readonly suspend?: boolean;
    readonly backoffLimit?: number;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly template: { readonly metadata?: Omit<Metadata, 'name'>; readonly spec: PodSpec };
  };
  readonly status?: { readonly succeeded?: number; readonly failed?: number };
}

export interface Lease extends KubernetesObject {
  readonly spec: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
