/** From what an operator says of a cluster to its engine. Nobody is waited for: a cluster that is away does not hold up the start. */
import type { Logger } from '../../../lib/logger.ts';
import { type ClusterAccess, AccessProblem } from '../../../kubernetes/access.ts';
import { KubernetesClient } from '../../../kubernetes/client.ts';
import { inClusterAccess } from '../../../kubernetes/in-cluster.ts';
import { kubeconfigAccess } from '../../../kubernetes/kubeconfig.ts';
import { PlatformError } from '../../../domain/errors.ts';
import type { Provisioner } from '../../../domain/units/provisioner.ts';
import { createKubernetesProvisioner } from './kubernetes-provisioner.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';

interface ClusterSettings extends Omit<KubernetesSettings, 'namespace'> {
  /** Null: the one of the login. */
  readonly namespace: string | null;
  /** Null: the cluster that this runs in. */
  readonly kubeconfig: string | null;
  readonly context: string | null;
}

/** Throws PlatformError `config.invalid`. */
export async function openKubernetes(name: string, cluster: ClusterSettings, logger: Logger): Promise<Provisioner> {
  const { kubeconfig, context, namespace, ...own } = cluster;
  const access = await accessOf(name, kubeconfig, context);
  const client = new KubernetesClient(access);
  const settings = { ...own, namespace: namespace ?? client.namespace };
  return createKubernetesProvisioner({ name, client, settings, logger });
}

async function accessOf(name: string, kubeconfig: string | null, context: string | null): Promise<ClusterAccess> {
  try {
    return kubeconfig === null ? await inClusterAccess() : await kubeconfigAccess(kubeconfig, context);
  } catch (error) {
    if (!(error instanceof AccessProblem)) throw error;
    throw new PlatformError('config.invalid', `The engine ${name}: ${error.message}`, {
      hint: error.hint,
      cause: error,
    });
  }
}
