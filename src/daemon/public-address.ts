/** The IP address that the host names of apps lead to: published as `Ip` (specification section 2). */
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Config } from '../config/config.ts';
import { repeatedly } from '../lib/repeatedly.ts';
import { isLoopback } from './addresses.ts';

interface Surroundings {
  /** The addresses that a name has, none where it is unknown; bounded in time. */
  readonly resolve: (name: string) => Promise<readonly string[]>;
  /** Of this machine, as others see it. */
  readonly ownAddresses: () => readonly string[];
}

export interface PublicAddress {
  /** As last known; never waits. */
  readonly current: () => string;
  /** Asks once more where the names lead. */
  readonly refresh: () => Promise<void>;
  close(): Promise<void>;
}

type Needed = Pick<Config, 'publicAddress' | 'domain' | 'edgeListen'>;

const LOOPBACK = '127.0.0.1';
const REFRESH_MS = 10 * 60_000;
const LOOKUP_MS = 5_000;
/** No app can be called so: that it leads somewhere says that the names of all apps do. */
const PROBED_LABEL = 'tancho';

/**
 * The setting; else where the names below the domain lead by DNS; else the address that the edge is bound to; else the first one
 * of this machine that is not loopback.
 */
export function publicAddress(config: Needed, surroundings: Surroundings = SURROUNDINGS): PublicAddress {
  const { domain, edgeListen } = config;
  if (config.publicAddress !== null) return fixed(config.publicAddress);
  if (domain === 'localhost' || domain.endsWith('.localhost')) return fixed(LOOPBACK);
  const { host } = edgeListen;
  const bound = isLoopback(host) && isIP(host) === 0 ? LOOPBACK : host;
  const isBound = isIP(bound) !== 0 && bound !== '0.0.0.0' && bound !== '::';
  let known = isBound ? bound : (surroundings.ownAddresses()[0] ?? LOOPBACK);
  const refresh = async (): Promise<void> => {
    for (const name of [`${PROBED_LABEL}.${domain}`, domain]) {
      const [found] = await surroundings.resolve(name);
      if (found === undefined) continue;
      known = found;
      return;
    }
  };
  const first = refresh();
  const stop = repeatedly(REFRESH_MS, refresh);
  return {
    current: () => known,
    refresh,
    async close() {
      await Promise.all([first, stop()]);
    },
  };
}

function fixed(address: string): PublicAddress {
  return { current: () => address, refresh: async () => {}, close: async () => {} };
}

const SURROUNDINGS: Surroundings = {
  async resolve(name) {
    const resolver = new Resolver({ timeout: LOOKUP_MS, tries: 1 });
    const none = (): string[] => [];
    const [ipv4, ipv6] = await Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)]);
    return [...ipv4, ...ipv6];
  },
  ownAddresses() {
    const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const outside = all.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
    return outside.sort((a, b) => a.family.localeCompare(b.family)).map(({ address }) => address);
  },
};
