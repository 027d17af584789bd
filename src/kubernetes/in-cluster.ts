/** The login that Kubernetes gives to every pod. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { hostPort } from '../lib/host-port.ts';
import { type ClusterAccess, AccessProblem } from './access.ts';
import { openTokenFile } from './token-file.ts';

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

interface InClusterOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
}

export async function inClusterAccess({
  env = process.env,
  directory = DIRECTORY,
}: InClusterOptions = {}): Promise<ClusterAccess> {
  const [host, port] = [env['KUBERNETES_SERVICE_HOST'], Number(env['KUBERNETES_SERVICE_PORT'])];
  if (host === undefined || !Number.isInteger(port) || port <= 0) {
    throw new AccessProblem(
      'This server does not run in a pod of Kubernetes.',
      'Name a kubeconfig in the settings of the engine.',
    );
  }
  const token = openTokenFile(path.join(directory, 'token'));
  const [authorities, namespace] = await Promise.all([
    readFile(path.join(directory, 'ca.crt'), 'utf8'),
    readFile(path.join(directory, 'namespace'), 'utf8'),
  ]).catch((error: unknown) => {
    throw new AccessProblem(
      `The login of this pod is not in ${directory}.`,
      'Give the pod a service account, and leave automountServiceAccountToken on.',
      error,
    );
  });
  return {
    cluster: {
      server: new URL(`https://${hostPort({ host, port })}`),
      authorities,
      isVerified: true,
      serverName: null,
    },
    namespace: namespace.trim(),
    description: 'the cluster that this server runs in',
    async login() {
      return { headers: { authorization: `Bearer ${await token.read()}` }, certificate: null };
    },
    refused: () => token.forget(),
  };
}
