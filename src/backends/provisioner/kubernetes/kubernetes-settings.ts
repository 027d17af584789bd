/** What an operator says of a cluster. */
export interface KubernetesSettings {
  /** Of this Tancho in the cluster: a label of all that it has there. */
  readonly installation: string;
  /** Of pools that name none. */
  readonly namespace: string;
  /** Name of the secret with which nodes pull images; null: none. */
  readonly imagePullSecret: string | null;
  /** As whom units run. */
  readonly user: number;
  /** Networks in CIDR notation from which edges and controls reach units. */
  readonly reachedFrom: readonly string[];
}
