/** Pure: engines beside this machine, as one line of text each. */
import { blockOf } from '../lib/ipv4.ts';
import { BadValue, type Parser } from './parsers.ts';

/** A Kubernetes cluster, or a part of one. */
export interface EngineSetting {
  /** Path; null: the cluster that the server runs in. */
  readonly kubeconfig: string | null;
  /** Of the kubeconfig; null: its current one. */
  readonly context: string | null;
  /** Null: the one of the context. */
  readonly namespace: string | null;
  readonly installation: string;
  readonly imagePullSecret: string | null;
  readonly user: number;
  readonly reachedFrom: readonly string[];
}

const EXAMPLE = 'prod=kubernetes:/etc/tancho/kubeconfig?context=prod&namespace=apps&from=10.0.0.0/8';
const WORD = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const OPTIONS: ReadonlySet<string> = new Set(['context', 'namespace', 'installation', 'pull-secret', 'user', 'from']);
const DEFAULT_INSTALLATION = 'tancho';
const DEFAULT_USER = 1000;
const MAX_USER = 2 ** 31 - 1;
/** Of the engine of this machine. */
const TAKEN = 'process';

/** `name=address` with commas between them. */
export const namedEngines: Parser<ReadonlyMap<string, EngineSetting>> = (text) => {
  const engines = new Map<string, EngineSetting>();
  const entries = text.split(/,(?=\s*[a-z0-9-]+\s*=\s*kubernetes:)/).map((entry) => entry.trim());
  if (entries.join('') === '') return engines;
  for (const entry of entries) {
    const [, name = '', address = ''] = /^([a-z][a-z0-9-]{0,62})\s*=\s*(kubernetes:\S+)$/.exec(entry) ?? [];
    if (!URL.canParse(address))
      throw new BadValue(`must be name=address with commas between them, for example ${EXAMPLE}`);
    if (engines.has(name) || name === TAKEN)
      throw new BadValue(`must give each engine a name of its own, and not ${TAKEN}`);
    engines.set(name, readAddress(new URL(address)));
  }
  return engines;
};

function readAddress({ pathname, searchParams }: URL): EngineSetting {
  const unknown = [...searchParams.keys()].find((key) => !OPTIONS.has(key));
  if (unknown !== undefined) throw new BadValue(`has no option ${unknown}; there are: ${[...OPTIONS].join(', ')}`);
  const file = decodeURIComponent(pathname);
  if (file !== 'in-cluster' && !file.startsWith('/')) {
    throw new BadValue(`must name a kubeconfig by its whole path, or in-cluster, for example ${EXAMPLE}`);
  }
  const word = (option: string): string | null => {
    const value = searchParams.get(option);
    if (value !== null && !WORD.test(value))
      throw new BadValue(`has a wrong ${option}: lower-case letters, digits and hyphens`);
    return value;
  };
  const user = Number(searchParams.get('user') ?? DEFAULT_USER);
  if (!Number.isInteger(user) || user < 1 || user > MAX_USER)
    throw new BadValue('has a wrong user: the number of one, and not of root');
  const reachedFrom = searchParams.getAll('from');
  if (reachedFrom.some((network) => blockOf(network) === null)) {
    throw new BadValue('has a wrong from: networks of IPv4, for example from=10.0.0.0/8');
  }
  return {
    kubeconfig: file === 'in-cluster' ? null : file,
    context: searchParams.get('context'),
    namespace: word('namespace'),
    installation: word('installation') ?? DEFAULT_INSTALLATION,
    imagePullSecret: searchParams.get('pull-secret'),
    user,
    reachedFrom: reachedFrom.map((network) => (network.includes('/') ? network : `${network}/32`)),
  };
}
