/** The name servers of /etc/resolv.conf that IPv4 reaches, those on the machine's loopback apart. */
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';

interface Resolvers {
  readonly loopback: readonly string[];
  readonly others: readonly string[];
}

const RESOLV_CONF = '/etc/resolv.conf';

export function readResolvers(): Resolvers {
  try {
    return parseResolvers(readFileSync(RESOLV_CONF, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return parseResolvers('');
    throw error;
  }
}

/** Pure. */
export function parseResolvers(text: string): Resolvers {
  const found = text
    .split('\n')
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
    .filter((address) => isIPv4(address));
  // Without a line the C library asks this machine.
  const all = /^\s*nameserver\s/m.test(text) ? found : ['127.0.0.1'];
  return {
    loopback: all.filter((address) => address.startsWith('127.')),
    others: all.filter((address) => !address.startsWith('127.')),
  };
}
