/** The cluster that something is installed in, by a kubeconfig. */
import { AccessProblem } from '../../kubernetes/access.ts';
import { KubernetesClient } from '../../kubernetes/client.ts';
import { type Kind, KINDS } from '../../kubernetes/kinds.ts';
import { kubeconfigAccess } from '../../kubernetes/kubeconfig.ts';
import { isStatus, KubernetesError } from '../../kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../kubernetes/objects.ts';
import { CliError } from '../errors.ts';
import type { ClusterObject } from './manifests.ts';

export interface TargetCluster {
  readonly description: string;
  apply(manifest: ClusterObject): Promise<void>;
  /** False: it was not there. */
  remove(manifest: ClusterObject): Promise<boolean>;
  /** Names with values; empty where there is none. */
  secret(namespace: string, name: string): Promise<Readonly<Record<string, string>>>;
}

const CLUSTER_WIDE = new Set(['Namespace', 'ClusterRole', 'ClusterRoleBinding']);

export async function openCluster(kubeconfig: string, context: string | null): Promise<TargetCluster> {
  const client = await worded(async () => new KubernetesClient(await kubeconfigAccess(kubeconfig, context)));
  return {
    description: client.description,
    apply: (manifest) => worded(async () => void (await client.apply(kindOf(manifest), manifest))),
    remove: ({ metadata: { name, namespace }, ...manifest }) =>
      worded(async () => {
        const what = { name, ...(namespace !== undefined && { namespace }) };
        const kind = kindOf(manifest);
        if ((await client.get(kind, what)) === null) return false;
        await client.delete(kind, what);
        return true;
      }),
    secret: (namespace, name) =>
      worded(async () => {
        const { data = {} } = (await client.get(KINDS.secrets, { namespace, name })) ?? {};
        return Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
        );
      }),
  };
}

function kindOf({ apiVersion, kind }: Pick<ClusterObject, 'apiVersion' | 'kind'>): Kind<KubernetesObject> {
  const plural = `${kind.toLowerCase()}s`;
  return { apiVersion, kind, plural, isNamespaced: !CLUSTER_WIDE.has(kind) };
}

async function worded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AccessProblem) throw new CliError(error.message, error.hint, { cause: error });
    if (!(error instanceof KubernetesError)) throw error;
    const hint = isStatus(error, 403)
      ? 'Use a login that may make namespaces and roles (--kubeconfig, --context).'
      : 'Look at the cluster: kubectl cluster-info.';
    throw new CliError(error.message, hint, { cause: error });
  }
}
