import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testCertificate } from '../../test/support/test-certificates.ts';
import { AccessProblem } from './access.ts';
import { KubernetesClient } from './client.ts';
import { inClusterAccess } from './in-cluster.ts';
import { kubeconfigAccess } from './kubeconfig.ts';
import { KINDS } from './kinds.ts';
import { ApiServer, type ApiServerOptions } from './testing/api-server.ts';

let directory: string;
let server: ApiServer;
let certificate: Awaited<ReturnType<typeof testCertificate>>;

async function serve(options: ApiServerOptions = {}): Promise<void> {
  server = new ApiServer({ tls: { cert: certificate.chain, key: certificate.key }, ...options });
  await server.start();
}

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'kubeconfig-'));
  certificate = await testCertificate('localhost');
  await writeFile(path.join(directory, 'ca.crt'), certificate.chain);
});
afterEach(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

async function config(user: object, cluster: object = {}, context: object = {}): Promise<string> {
  const file = path.join(directory, 'config');
  const written = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'first',
    contexts: [
      { name: 'first', context: { cluster: 'one', user: 'somebody', namespace: 'apps', ...context } },
      { name: 'second', context: { cluster: 'one', user: 'somebody' } },
    ],
    clusters: [{ name: 'one', cluster: { server: server.url, 'certificate-authority': 'ca.crt', ...cluster } }],
    users: [{ name: 'somebody', user }],
  };
  await writeFile(file, JSON.stringify(written));
  return file;
}

async function asked(file: string, context: string | null = null): Promise<string> {
  const client = new KubernetesClient(await kubeconfigAccess(file, context));
  try {
    await client.list(KINDS.pods);
    return client.namespace;
  } finally {
    client.close();
  }
}

function problem(work: Promise<unknown>): Promise<AccessProblem> {
  return work.then(
    () => {
      throw new Error('nothing was thrown');
    },
    (error: unknown) => {
      if (error instanceof AccessProblem) return error;
      throw error;
    },
  );
}

const bearer = (token: string) => ({ isAllowed: (header: string) => header === `Bearer ${token}` });

describe('a kubeconfig', () => {
  it('says where the cluster is and as whom: token, authority beside it, namespace of the context', async () => {
    await serve(bearer('secret-1'));
    const file = await config({ token: 'secret-1' });
    expect(await asked(file)).toBe('apps');
    expect(await asked(file, 'second')).toBe('default');
  });

  it('names each group to be taken for in a header of its own, as Kubernetes reads them', async () => {
    await serve({ isAllowed: (_, groups) => groups.join('|') === 'system:masters|team, one' });
    const user = { token: 'secret-1', as: 'ann', 'as-groups': ['system:masters', 'team, one'] };
    expect(await asked(await config(user))).toBe('apps');
  });

  it('trusts nobody but the authority that it names', async () => {
    await serve();
    const other = await testCertificate('localhost');
    const data = Buffer.from(other.chain).toString('base64');
    const wrong = asked(await config({}, { 'certificate-authority-data': data }));
    await expect(wrong).rejects.toMatchObject({ status: 0, message: expect.stringContaining('certificate') as string });
  });

  it('has a token of a file read anew when it is refused', async () => {
    let good = 'secret-1';
    await serve({ isAllowed: (header) => header === `Bearer ${good}` });
    const tokenFile = path.join(directory, 'token');
    await writeFile(tokenFile, 'secret-1\n');
    const client = new KubernetesClient(await kubeconfigAccess(await config({ tokenFile: 'token' }), null));
    await client.list(KINDS.pods);
    good = 'secret-2';
    await expect(client.list(KINDS.pods)).rejects.toMatchObject({ status: 401 });
    await writeFile(tokenFile, 'secret-2\n');
    await client.list(KINDS.pods);
    client.close();
  });

  it('runs a login program once, and again when what it gave is over', async () => {
    await serve({ isAllowed: (header) => /^Bearer token-\d$/.test(header) });
    const program = path.join(directory, 'login');
    const count = path.join(directory, 'count');
    const expires = (at: number): string => new Date(at).toISOString();
    const script = (until: string): string =>
      [
        '#!/bin/sh',
        `echo run >> '${count}'`,
        'case "$KUBERNETES_EXEC_INFO" in *\'"server":"https:\'*) ;; *) exit 7;; esac',
        `n=$(wc -l < '${count}' | tr -d ' ')`,
        `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"token-'$n'","expirationTimestamp":"${until}"}}'`,
      ].join('\n');
    const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command: './login', provideClusterInfo: true };
    const file = await config({ exec: plugin });
    const seen = async (until: string): Promise<number> => {
      await writeFile(count, '');
      await writeFile(program, script(until));
      await chmod(program, 0o755);
      const client = new KubernetesClient(await kubeconfigAccess(file, null));
      await Promise.all([client.list(KINDS.pods), client.list(KINDS.pods)]);
      await client.list(KINDS.pods);
      client.close();
      const { readFile } = await import('node:fs/promises');
      return (await readFile(count, 'utf8')).split('\n').length - 1;
    };
    expect(await seen(expires(Date.now() + 3_600_000))).toBe(1);
    expect(await seen(expires(Date.now() + 5_000))).toBeGreaterThan(1);
  });

  it('says what is wrong with it, and what to do', async () => {
    await serve();
    const plugin = {
      apiVersion: 'client.authentication.k8s.io/v1',
      installHint: 'Install it with: apt-get install login',
    };
    const wrong: [object, RegExp][] = [
      [{ username: 'x', password: 'y' }, /username is not supported/],
      [{ 'client-certificate': 'ca.crt' }, /a certificate needs its key/],
      [{ 'client-certificate': 'missing', 'client-key': 'missing' }, /cannot be read/],
      [{ exec: { ...plugin, command: 'no-such-login-program' } }, /is not on this machine/],
      [{ exec: { ...plugin, command: '/bin/false' } }, /has failed/],
      [{ exec: { ...plugin, command: '/bin/echo', args: ['hello'] } }, /no JSON/],
      [{ exec: { ...plugin, apiVersion: 'other/v1', command: '/bin/echo' } }, /speaks other\/v1/],
    ];
    for (const [user, message] of wrong) expect((await problem(asked(await config(user)))).message).toMatch(message);
    expect((await problem(asked(await config({ exec: { ...plugin, command: 'no-such-login-program' } })))).hint).toBe(
      plugin.installHint,
    );
    expect((await problem(asked(await config({}), 'third'))).message).toContain('there are: first, second');
    expect((await problem(asked(await config({}, { 'proxy-url': 'http://proxy' })))).message).toContain('proxy-url');
    expect((await problem(asked(path.join(directory, 'none')))).message).toContain('cannot be read');
    const text = path.join(directory, 'text');
    await writeFile(text, 'just words');
    expect((await problem(asked(text))).message).toContain('is no kubeconfig');
  });
});

describe('the login of a pod', () => {
  it('is its token, which is read anew, at the address that the pod is given', async () => {
    await serve(bearer('of-the-pod'));
    const own = path.join(directory, 'account');
    await mkdir(own);
    await writeFile(path.join(own, 'token'), 'of-the-pod');
    await writeFile(path.join(own, 'ca.crt'), certificate.chain);
    await writeFile(path.join(own, 'namespace'), 'tancho\n');
    const { hostname, port } = new URL(server.url);
    const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const access = await inClusterAccess({ env, directory: own });
    const client = new KubernetesClient(access);
    expect(client.namespace).toBe('tancho');
    expect((await client.list(KINDS.pods)).items).toEqual([]);
    client.close();
    expect((await problem(inClusterAccess({ env: {} }))).message).toContain('does not run in a pod');
    expect((await problem(inClusterAccess({ env, directory }))).message).toContain('is not in');
  });
});
