/** Whether this machine can give apps networks of their own, found out by making one and knocking at it. */
import { connect } from 'node:net';
import { findProgram } from '../lib/find-program.ts';
import { Networks, type NetworksOptions } from './networks.ts';

interface NetworksProbe extends Omit<NetworksOptions, 'tools'> {
  /** Networks are known to work here: skips the trial, and does not wait until one is prepared. */
  readonly areProven: boolean;
}

/** A busy machine is slow to answer, and must not get the weaker isolation for that. */
const KNOCK_DEADLINE_MS = 30_000;
/** Nothing listens in an empty network. */
const ANY_PORT = 9;

/** The networks, or why there are none. */
export async function probeNetworks(options: NetworksProbe): Promise<Networks | string> {
  if (process.getuid?.() !== 0) return 'it needs root';
  const [ip, nft, nsenter, tee] = ['ip', 'nft', 'nsenter', 'tee'].map((name) => findProgram(name));
  if (!ip) return 'ip was not found (install the package "iproute2")';
  if (!nft) return 'nft was not found (install the package "nftables")';
  if (!nsenter || !tee) return 'nsenter was not found (install the package "util-linux")';
  let networks: Networks | null = null;
  try {
    networks = await Networks.open({ ...options, tools: { ip, nft, nsenter, tee } });
    const problem = options.areProven ? null : await knock(await networks.trialAddress());
    if (problem === null) return networks;
    await networks.close();
    return problem;
  } catch (error) {
    await networks?.close().catch(() => undefined);
    return error instanceof Error ? error.message : String(error);
  }
}

/** A network that is reached refuses the connection: nobody is in it. Null when it does. */
async function knock(host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: ANY_PORT, timeout: KNOCK_DEADLINE_MS });
    const settle = (problem: string | null): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => settle('another program answers at the addresses of apps'));
    socket.once('timeout', () =>
      settle('packets to a network of its own do not arrive; a packet filter may stop them'),
    );
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      settle(code === 'ECONNREFUSED' ? null : `a network of its own is not reached: ${message}`);
    });
  });
}
