/** The cluster that something is installed in, by a kubeconfig. */
import { AccessProblem } from '../../kubernetes/access.ts';
import { KubernetesClient } from '../../kubernetes/client.ts';
import { type Kind, KINDS } from '../../kubernetes/kinds.ts';
import { kubeconfigAccess } from '../../kubernetes/kubeconfig.ts';
import { isStatus, KubernetesError } from '../../kubernetes/kubernetes-error.ts';
import type { KubernetesObject } from '../../kubernetes/objects.ts';
import { CliError } from '../errors.ts';
import { type ClusterObject, MANAGED_BY } from './manifests.ts';

export interface TargetCluster {
  readonly description: string;
  apply(manifest: ClusterObject): Promise<void>;
  /** False: it was not there, or is none of ours. */
  remove(manifest: ClusterObject): Promise<boolean>;
  /** To which service accounts (`namespace/name`) it binds rights; null: it is not there. */
  subjects(binding: ClusterObject): Promise<readonly string[] | null>;
  /** Names with values; empty where there is none. */
  secret(namespace: string, name: string): Promise<Readonly<Record<string, string>>>;
}

interface Binding extends KubernetesObject {
  readonly subjects?: readonly { readonly namespace?: string; readonly name: string }[];
}

const CLUSTER_WIDE = new Set(['Namespace', 'ClusterRole', 'ClusterRoleBinding']);

export async function openCluster(kubeconfig: string, context: string | null): Promise<TargetCluster> {
  const client = await worded(async () => new KubernetesClient(await kubeconfigAccess(kubeconfig, context)));
  return {
    description: client.description,
    apply: (manifest) => worded(async () => void (await client.apply(kindOf(manifest), manifest))),
    remove: (manifest) =>
      worded(async () => {
        const [kind, what] = [kindOf(manifest), placeOf(manifest)];
        const labels = (await client.get(kind, what))?.metadata.labels ?? {};
        if (!Object.entries(MANAGED_BY).every(([name, value]) => labels[name] === value)) return false;
        await client.delete(kind, what);
        return true;
      }),
    subjects: (binding) =>
      worded(async () => {
        const found: Binding | null = await client.get(kindOf(binding), placeOf(binding));
        return found && (found.subjects ?? []).map(({ namespace = '', name }) => `${namespace}/${name}`);
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

function placeOf({ metadata: { name, namespace } }: ClusterObject): { name: string; namespace?: string } {
  return { name, ...(namespace !== undefined && { namespace }) };
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
