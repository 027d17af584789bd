/** Logins that a program gives, as kubeconfigs of managed clusters name one: `client.authentication.k8s.io`. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { isRecord } from '../lib/is-record.ts';
import { AccessProblem, type Cluster, type ClusterLogin } from './access.ts';

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 1024 * 1024;
/** Before it is over, so that no request is sent with a login that has just ended. */
const EARLY_MS = 10_000;
const VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const run = promisify(execFile);

interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of the program, where it is not installed; may be empty. */
  readonly installHint: string;
  readonly providesClusterInfo: boolean;
}

interface ExecLogin {
  login(): Promise<ClusterLogin>;
  forget(): void;
}

/** The program is run when a login is needed and none is there, or the last one is over; those who ask meanwhile share it. */
export function openExecLogin(plugin: ExecPlugin, cluster: Cluster): ExecLogin {
  let known: { readonly login: ClusterLogin; readonly until: number } | null = null;
  let asking: Promise<ClusterLogin> | null = null;
  const ask = async (): Promise<ClusterLogin> => {
    const given = await credential(plugin, cluster);
    known = given;
    return given.login;
  };
  return {
    async login() {
      if (known !== null && Date.now() < known.until - EARLY_MS) return known.login;
      asking ??= ask().finally(() => (asking = null));
      return asking;
    },
    forget: () => (known = null),
  };
}

async function credential(plugin: ExecPlugin, cluster: Cluster): Promise<{ login: ClusterLogin; until: number }> {
  const { apiVersion, command, args, env } = plugin;
  if (!VERSIONS.includes(apiVersion)) {
    throw new AccessProblem(
      `The login program ${command} speaks ${apiVersion}.`,
      `Use one that speaks ${VERSIONS[0]}.`,
    );
  }
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false, ...clusterInfo(plugin, cluster) } };
  const options = {
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_BYTES,
    env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  };
  const { stdout } = await run(command, [...args], options).catch(
    (error: NodeJS.ErrnoException & { stderr?: string }) => {
      const isMissing = error.code === 'ENOENT';
      const said = (error.stderr ?? '').trim().split('\n').at(-1) ?? '';
      throw new AccessProblem(
        isMissing
          ? `The login program ${command} is not on this machine.`
          : `The login program ${command} has failed${said === '' ? '' : `: ${said.slice(0, 300)}`}.`,
        isMissing && plugin.installHint !== ''
          ? plugin.installHint
          : `Run it as the user of this server: ${[command, ...args].join(' ')}`,
        error,
      );
    },
  );
  return readCredential(stdout, plugin);
}

function clusterInfo(
  { providesClusterInfo }: ExecPlugin,
  { server, authorities, isVerified, serverName }: Cluster,
): object {
  if (!providesClusterInfo) return {};
  return {
    cluster: {
      server: server.href,
      ...(serverName !== null && { 'tls-server-name': serverName }),
      ...(!isVerified && { 'insecure-skip-tls-verify': true }),
      ...(authorities !== null && { 'certificate-authority-data': Buffer.from(authorities).toString('base64') }),
    },
  };
}

function readCredential(text: string, { command, apiVersion }: ExecPlugin): { login: ClusterLogin; until: number } {
  const broken = (what: string): AccessProblem =>
    new AccessProblem(
      `The login program ${command} has printed ${what}.`,
      'See what it prints when it is run by hand.',
    );
  let printed: unknown;
  try {
    printed = JSON.parse(text);
  } catch {
    throw broken('no JSON');
  }
  const status = isRecord(printed) ? printed['status'] : null;
  if (!isRecord(printed) || printed['apiVersion'] !== apiVersion || !isRecord(status)) {
    throw broken(`no login of ${apiVersion}`);
  }
  const { token, clientCertificateData: chain, clientKeyData: key, expirationTimestamp } = status;
  const hasCertificate = typeof chain === 'string' && typeof key === 'string';
  if (typeof token !== 'string' && !hasCertificate) throw broken('neither a token nor a certificate');
  const ends = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : NaN;
  return {
    login: {
      headers: typeof token === 'string' ? { authorization: `Bearer ${token}` } : {},
      certificate: hasCertificate ? { chain, key } : null,
    },
    until: Number.isNaN(ends) ? Infinity : ends,
  };
}
