/** Keys and certificates of a cluster, made by openssl, and the kubeconfig of its admin. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Credentials {
  readonly authority: string;
  readonly api: KeyPair;
  /** May do everything. */
  readonly admin: KeyPair;
  readonly kubelet: KeyPair;
  /** Signs the tokens of service accounts. */
  readonly accounts: KeyPair;
  readonly kubeconfig: string;
}

/** Files. */
interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

interface Places {
  readonly directory: string;
  /** Where its admin reaches the API server. */
  readonly server: string;
  /** Where pods do. */
  readonly service: string;
  readonly node: string;
}

export async function makeCredentials({ directory, server, service, node }: Places): Promise<Credentials> {
  const file = (name: string): string => path.join(directory, name);
  const authority = { certificate: file('authority.crt'), key: file('authority.key') };
  const days = ['-days', '30'];
  const root = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=cluster', ...days];
  await run('openssl', [...root, '-keyout', authority.key, '-out', authority.certificate]);

  async function sign(name: string, subject: string, alternatives: string): Promise<KeyPair> {
    const pair = { certificate: file(`${name}.crt`), key: file(`${name}.key`) };
    const [request, extensions] = [file(`${name}.csr`), file(`${name}.ext`)];
    await writeFile(extensions, `subjectAltName=${alternatives}\nextendedKeyUsage=serverAuth,clientAuth\n`);
    const own = ['-newkey', 'rsa:2048', '-nodes', '-subj', subject, '-keyout', pair.key, '-out', request];
    await run('openssl', ['req', ...own]);
    const by = [
      '-CA',
      authority.certificate,
      '-CAkey',
      authority.key,
      '-CAserial',
      file(`${name}.srl`),
      '-CAcreateserial',
    ];
    await run('openssl', [
      'x509',
      '-req',
      '-in',
      request,
      ...by,
      ...days,
      '-extfile',
      extensions,
      '-out',
      pair.certificate,
    ]);
    return pair;
  }

  const admins = '/O=system:masters/CN=';
  const [api, admin, kubelet] = await Promise.all([
    sign('api', '/CN=kube-apiserver', `IP:127.0.0.1,IP:${service},DNS:localhost,DNS:kubernetes.default.svc`),
    sign('admin', `${admins}admin`, 'DNS:admin'),
    sign('kubelet', `${admins}kubelet`, `IP:${node}`),
  ]);
  const accounts = { certificate: file('accounts.pub'), key: file('accounts.key') };
  await run('openssl', ['genrsa', '-out', accounts.key, '2048']);
  await run('openssl', ['rsa', '-in', accounts.key, '-pubout', '-out', accounts.certificate]);
  const kubeconfig = file('kubeconfig');
  const cluster = { server, 'certificate-authority': authority.certificate };
  const user = { 'client-certificate': admin.certificate, 'client-key': admin.key };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  // JSON is YAML.
  await writeFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { authority: authority.certificate, api, admin, kubelet, accounts, kubeconfig };
}
