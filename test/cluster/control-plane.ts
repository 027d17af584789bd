/** etcd, API server, controllers and scheduler of a cluster, on free ports of the loopback. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { KubernetesClient } from '../../src/kubernetes/client.ts';
import { kubeconfigAccess } from '../../src/kubernetes/kubeconfig.ts';
import { freePort } from '../support/free-port.ts';
import type { Credentials } from './credentials.ts';
import type { Parts } from './parts.ts';

const ANSWER_MS = 5_000;

interface ControlPlaneOptions {
  readonly program: string;
  readonly parts: Parts;
  readonly directory: string;
  readonly credentials: Credentials;
  readonly port: number;
  /** Of Services: `10.150`. */
  readonly services: string;
  /** More flags, by name of the server. */
  readonly flags?: Readonly<Record<string, readonly string[]>>;
}

export interface ControlPlane {
  readonly client: KubernetesClient;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { program, parts, directory, credentials, port, services, flags = {} } = options;
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
    ...['--service-account-signing-key-file', accounts.key, '--service-cluster-ip-range', `${services}.0.0/16`],
    ...['--authorization-mode', 'Node,RBAC', '--allow-privileged=true', '--endpoint-reconciler-type', 'none'],
    ...['--kubelet-client-certificate', admin.certificate, '--kubelet-client-key', admin.key],
    ...['--kubelet-preferred-address-types', 'InternalIP', ...(flags['kube-apiserver'] ?? [])],
  ]);
  const client = new KubernetesClient(await kubeconfigAccess(kubeconfig, null));
  // Controllers wait ten seconds for it, and end.
  await parts.ready('kube-apiserver', () => isReady(port, credentials));
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

async function isReady(port: number, { authority, admin }: Credentials): Promise<boolean> {
  const [ca, cert, key] = [authority, admin.certificate, admin.key].map((file) => readFileSync(file));
  const asked = get({
    host: '127.0.0.1',
    port,
    path: '/readyz',
    agent: false,
    timeout: ANSWER_MS,
    ...{ ca, cert, key },
  });
  asked.on('timeout', () => asked.destroy(new Error('no answer')));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode === 200;
}
