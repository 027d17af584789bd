/** etcd, API server, controllers and scheduler of a cluster, on free ports of the loopback. */
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { KINDS } from '../../src/kubernetes/kinds.ts';
import { kubeconfigAccess } from '../../src/kubernetes/kubeconfig.ts';
import { freePort } from '../support/free-port.ts';
import type { Credentials } from './credentials.ts';
import type { Parts } from './parts.ts';

interface ControlPlaneOptions {
  readonly program: string;
  readonly parts: Parts;
  readonly directory: string;
  readonly credentials: Credentials;
  readonly port: number;
  /** More flags, by name of the server. */
  readonly flags?: Readonly<Record<string, readonly string[]>>;
}

export interface ControlPlane {
  readonly client: KubernetesClient;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { program, parts, directory, credentials, port, flags = {} } = options;
  const { api, admin, accounts, authority, kubeconfig } = credentials;
  const [clients, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  parts.start('etcd', [
    ...[program, 'etcd', '--data-dir', `${directory}/etcd`],
    // Nothing here has to survive a power cut.
    '--unsafe-no-fsync',
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients, '--log-level', 'warn'],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
  ]);
  parts.start('kube-apiserver', [
    ...[
      program,
      'kube-apiserver',
      '--etcd-servers',
      clients,
      '--bind-address',
      '127.0.0.1',
      '--secure-port',
      `${port}`,
    ],
    ...['--tls-cert-file', api.certificate, '--tls-private-key-file', api.key, '--client-ca-file', authority],
    ...[
      '--service-account-issuer',
      'https://kubernetes.default.svc',
      '--service-account-key-file',
      accounts.certificate,
    ],
    ...['--service-account-signing-key-file', accounts.key, '--service-cluster-ip-range', '10.96.0.0/16'],
    ...['--authorization-mode', 'Node,RBAC', '--allow-privileged=true', '--endpoint-reconciler-type', 'none'],
    ...['--kubelet-client-certificate', admin.certificate, '--kubelet-client-key', admin.key],
    ...['--kubelet-preferred-address-types', 'InternalIP', ...(flags['kube-apiserver'] ?? [])],
  ]);
  const client = new KubernetesClient(await kubeconfigAccess(kubeconfig, null));
  await parts.ready('kube-apiserver', async () => (await client.get(KINDS.namespaces, { name: 'default' })) !== null);
  const own = ['--kubeconfig', kubeconfig, '--leader-elect=false', '--bind-address', '127.0.0.1', '--secure-port'];
  parts.start('kube-controller-manager', [
    ...[program, 'kube-controller-manager', ...own, `${await freePort()}`],
    ...['--service-account-private-key-file', accounts.key, '--root-ca-file', authority],
    ...['--use-service-account-credentials', ...(flags['kube-controller-manager'] ?? [])],
  ]);
  const scheduler = [program, 'kube-scheduler', ...own, `${await freePort()}`, ...(flags['kube-scheduler'] ?? [])];
  parts.start('kube-scheduler', scheduler);
  return { client };
}
