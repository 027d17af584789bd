/** Whether this machine can give apps networks of their own, found out by making one and knocking at it. */
import { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { findProgram } from '../lib/find-program.ts';
import { Networks, type NetworksOptions } from './networks.ts';
import type { OwnMachine } from './rootless/own-machine.ts';

interface NetworksProbe extends Omit<NetworksOptions, 'tools' | 'machine'> {
  /** Networks are known to work here: skips the trial, and does not wait until one is prepared. */
  readonly areProven: boolean;
}

/** A busy machine is slow to answer, and must not get the weaker isolation for that. */
const KNOCK_DEADLINE_MS = 30_000;
const TUN = '/dev/net/tun';
/** Nothing listens in an empty network. */
const ANY_PORT = 9;

/** The networks, or why there are none. */
export async function probeNetworks(options: NetworksProbe): Promise<Networks | string> {
  const isRoot = process.getuid?.() === 0;
  const [ip, nft, nsenter, tee] = ['ip', 'nft', 'nsenter', 'tee'].map((name) => findProgram(name));
  if (!ip) return 'ip was not found (install the package "iproute2")';
  if (!nft) return 'nft was not found (install the package "nftables")';
  if (!nsenter || !tee) return 'nsenter was not found (install the package "util-linux")';
  let networks: Networks | null = null;
  let machine: OwnMachine | string | undefined;
  try {
    machine = isRoot ? undefined : await ownMachine(options, nsenter);
    if (typeof machine === 'string') return machine;
    networks = await Networks.open({ ...options, tools: { ip, nft, nsenter, tee }, ...(machine && { machine }) });
    const problem = options.areProven ? null : await knock(await networks.trialAddress());
    if (problem === null) return networks;
    await networks.close();
    return problem;
  } catch (error) {
    if (networks !== null) await networks.close().catch(() => undefined);
    else if (typeof machine === 'object') await machine.abandon().catch(() => undefined);
    return error instanceof Error ? error.message : String(error);
  }
}

/** Without root; or why there is none. */
async function ownMachine({ stateDir, scope }: NetworksProbe, nsenter: string): Promise<OwnMachine | string> {
  const [pasta, unshare, sleep, mount] = ['pasta', 'unshare', 'sleep', 'mount'].map((name) => findProgram(name));
  if (!pasta) return 'it needs root, or pasta, which was not found (install the package "passt")';
  if (!unshare || !sleep || !mount) return 'unshare was not found (install the package "util-linux")';
  try {
    accessSync(TUN, constants.R_OK | constants.W_OK);
  } catch {
    return `pasta needs ${TUN}, which this user cannot open (chmod 0666 ${TUN})`;
  }
  const { OwnMachine: Machine } = await import('./rootless/own-machine.ts');
  return Machine.open({ stateDir, scope, tools: { pasta, unshare, sleep, mount, nsenter } });
}

/**
 * A network that is reached refuses the connection: nobody is in it. At a door pasta has taken it before it knows, and ends it. Null when that is
 * so.
 */
async function knock({ host, port }: { readonly host: string; readonly port: number | null }): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: port ?? ANY_PORT, timeout: KNOCK_DEADLINE_MS });
    const settle = (problem: string | null): void => {
      socket.destroy();
      resolve(problem);
    };
    if (port === null) socket.once('connect', () => settle('another program answers at the addresses of apps'));
    else socket.resume().once('end', () => settle(null));
    socket.once('timeout', () =>
      settle('packets to a network of its own do not arrive; a packet filter may stop them'),
    );
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      settle(
        code === 'ECONNREFUSED' || (port !== null && code === 'ECONNRESET')
          ? null
          : `a network of its own is not reached: ${message}`,
      );
    });
  });
}
