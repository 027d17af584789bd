/** Reads what kubectl reads: a cluster and a user by the name of a context. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../lib/is-record.ts';
import { type ClusterAccess, AccessProblem, type Cluster, type ClusterLogin } from './access.ts';
import { openExecLogin } from './exec-login.ts';
import { openTokenFile } from './token-file.ts';

const MAX_BYTES = 1024 * 1024;
/** Of users; what is not there cannot be logged in with. */
const UNKNOWN_LOGINS = ['auth-provider', 'username', 'password', 'as-uid', 'as-user-extra'];
const UNKNOWN_OF_CLUSTERS = ['proxy-url'];

/** Its certificates are read once, its tokens and programs again and again. Throws AccessProblem. */
export async function kubeconfigAccess(file: string, contextName: string | null): Promise<ClusterAccess> {
  const config = await readConfig(file);
  const name = contextName ?? config.text('current-context');
  if (name === null)
    throw new AccessProblem(`${file} names no current context.`, `Name one of: ${config.names('contexts')}.`);
  const context = config.entry('contexts', name, 'context');
  const cluster = await readCluster(config.entry('clusters', context.required('cluster'), 'cluster'));
  const user = config.entry('users', context.required('user'), 'user');
  return {
    cluster,
    namespace: context.text('namespace') ?? 'default',
    description: `context ${name} of ${file}`,
    ...(await readLogin(user, cluster)),
  };
}

async function readConfig(file: string): Promise<Section> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new AccessProblem(
      `The kubeconfig ${file} cannot be read.`,
      'Name one that is there, readable for the user of this server.',
      error,
    );
  });
  if (text.length > MAX_BYTES) throw new AccessProblem(`${file} is too long for a kubeconfig.`, 'Name another file.');
  const { parse } = await import('yaml');
  try {
    const parsed: unknown = parse(text, { maxAliasCount: 100 });
    if (isRecord(parsed)) return new Section(file, file, parsed);
  } catch (error) {
    throw new AccessProblem(`${file} is not YAML.`, 'See kubectl config view.', error);
  }
  throw new AccessProblem(`${file} is no kubeconfig.`, 'See kubectl config view.');
}

async function readCluster(section: Section): Promise<Cluster> {
  section.refuse(UNKNOWN_OF_CLUSTERS);
  const given = section.required('server');
  if (!URL.canParse(given) || !/^https?:/.test(given)) throw section.problem(`the server ${given} is no address`);
  return {
    server: new URL(given),
    authorities: await section.content('certificate-authority'),
    isVerified: section.flag('insecure-skip-tls-verify') !== true,
    serverName: section.text('tls-server-name'),
  };
}

async function readLogin(user: Section, cluster: Cluster): Promise<Pick<ClusterAccess, 'login' | 'refused'>> {
  user.refuse(UNKNOWN_LOGINS);
  const [chain, key] = [await user.content('client-certificate'), await user.content('client-key')];
  if ((chain === null) !== (key === null)) throw user.problem('a certificate needs its key, and a key its certificate');
  const certificate = chain === null || key === null ? null : { chain, key };
  const groups = user.texts('as-groups');
  const impersonated = user.text('as');
  const headers = {
    ...(impersonated !== null && { 'impersonate-user': impersonated }),
    ...(groups.length > 0 && { 'impersonate-group': groups }),
  };
  const base: ClusterLogin = { headers, certificate };
  const plugin = user.section('exec');
  if (plugin !== null) {
    const program = openExecLogin(readPlugin(plugin), cluster);
    const login = async (): Promise<ClusterLogin> => {
      const given = await program.login();
      return { headers: { ...headers, ...given.headers }, certificate: given.certificate ?? certificate };
    };
    return { login, refused: program.forget };
  }
  const tokenFile = user.file('tokenFile');
  if (tokenFile !== null) {
    const file = openTokenFile(tokenFile);
    const login = async (): Promise<ClusterLogin> => withToken(base, await file.read());
    return { login, refused: file.forget };
  }
  const token = user.text('token');
  const fixed = token === null ? base : withToken(base, token);
  return { login: async () => fixed, refused: () => {} };
}

function withToken(login: ClusterLogin, token: string): ClusterLogin {
  return { ...login, headers: { ...login.headers, authorization: `Bearer ${token}` } };
}

function readPlugin(section: Section): Parameters<typeof openExecLogin>[0] {
  const command = section.required('command');
  return {
    apiVersion: section.required('apiVersion'),
    command: command.includes('/') ? section.absolute(command) : command,
    args: section.texts('args'),
    env: Object.fromEntries(section.list('env').map((one) => [one.required('name'), one.text('value') ?? ''])),
    installHint: section.text('installHint') ?? '',
    providesClusterInfo: section.flag('provideClusterInfo') === true,
  };
}

/** A part of the file, read with care: it may hold anything. */
class Section {
  readonly #file: string;
  readonly #name: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(file: string, name: string, fields: Readonly<Record<string, unknown>>) {
    this.#file = file;
    this.#name = name;
    this.#fields = fields;
  }

  problem(what: string): AccessProblem {
    return new AccessProblem(
      `${this.#name === this.#file ? '' : `${this.#name} in `}${this.#file}: ${what}.`,
      'See kubectl config view.',
    );
  }

  refuse(names: readonly string[]): void {
    const found = names.find((name) => this.#fields[name] !== undefined);
    if (found !== undefined) throw this.problem(`${found} is not supported`);
  }

  text(name: string): string | null {
    const value = this.#fields[name];
    if (value === undefined || value === null || value === '') return null;
    if (typeof value !== 'string') throw this.problem(`${name} is no text`);
    return value;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === null) throw this.problem(`${name} is missing`);
    return value;
  }

  texts(name: string): string[] {
    const value = this.#fields[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value) || value.some((one) => typeof one !== 'string'))
      throw this.problem(`${name} is no list of texts`);
    return value as string[];
  }

  flag(name: string): boolean | null {
    const value = this.#fields[name];
    return typeof value === 'boolean' ? value : null;
  }

  section(name: string): Section | null {
    const value = this.#fields[name];
    if (value === undefined || value === null) return null;
    if (!isRecord(value)) throw this.problem(`${name} is no object`);
    return new Section(this.#file, `${name} of ${this.#name}`, value);
  }

  list(name: string): Section[] {
    const value = this.#fields[name];
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw this.problem(`${name} is no list`);
    return value.filter(isRecord).map((one) => new Section(this.#file, name, one));
  }

  names(list: string): string {
    return this.list(list)
      .map((one) => one.required('name'))
      .join(', ');
  }

  entry(list: string, name: string, what: string): Section {
    const found =
      this.list(list)
        .find((one) => one.text('name') === name)
        ?.section(what) ?? null;
    if (found === null) throw this.problem(`there is no ${what} ${name}; there are: ${this.names(list)}`);
    return found;
  }

  /** Names in it are relative to the file's directory. */
  absolute(name: string): string {
    return path.resolve(path.dirname(this.#file), name);
  }

  file(name: string): string | null {
    const value = this.text(name);
    return value === null ? null : this.absolute(value);
  }

  /** Given as it is, in base64, or as a file. */
  async content(name: string): Promise<string | null> {
    const data = this.text(`${name}-data`);
    if (data !== null) return Buffer.from(data, 'base64').toString('utf8');
    const file = this.file(name);
    if (file === null) return null;
    return readFile(file, 'utf8').catch((error: unknown) => {
      throw new AccessProblem(`${name} of ${this.#file} cannot be read: ${file}.`, 'See kubectl config view.', error);
    });
  }
}
