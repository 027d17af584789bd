/** Which proxies in front of the platform are believed, and what they say of the client they speak for. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { addressBytes } from './guarded/ip-address.ts';
import type { Ends } from './peer-user.ts';
import { fieldMembers, nodeAddress, parseForwarded, plainAddress } from './forwarded-header.ts';

/** The origin of a request that came through trusted proxies. */
export interface Origin {
  /** The client first, then the proxies, the one that connected here last. */
  readonly path: readonly string[];
  /** What the client spoke with the first proxy; null when nobody says. */
  readonly proto: 'http' | 'https' | null;
  /** The Host that the client sent; null when nobody says. */
  readonly host: string | null;
}

/** Value of a header field, several lines of it joined with commas; '' when it is not there. The name is in lower case. */
type FieldOf = (name: string) => string;

/** An address or a network in CIDR notation, as its address and the length of its prefix; null for anything else. */
export function parseNetwork(text: string): { address: string; bits: number } | null {
  const [address = '', length, more] = text.trim().split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0 || more !== undefined) return null;
  const most = family === 4 ? 32 : 128;
  if (length === undefined) return { address, bits: most };
  return /^[0-9]{1,3}$/.test(length) && Number(length) <= most ? { address, bits: Number(length) } : null;
}

/** Who brings them writes their fields anew, the client first. */
const THROUGH_EDGE = new WeakSet<IncomingMessage>();

/** To be called by a listener that only the edge can open: what its requests say of where they come from is true. */
export function markThroughEdge(request: IncomingMessage): void {
  THROUGH_EDGE.add(request);
}

/** The client's own connection to this machine, be it to the edge; null where a proxy is between, and over a socket. */
export function clientEnds(request: IncomingMessage): Ends | null {
  const { remoteAddress, remotePort, localAddress, localPort } = request.socket;
  if (!THROUGH_EDGE.has(request))
    return remoteAddress === undefined ? null : { remoteAddress, remotePort, localAddress, localPort };
  const [client, edge] = /^(\d+), (\d+)$/.exec(String(request.headers['x-forwarded-client-ports']))?.slice(1) ?? [];
  if (client === undefined) return null;
  return { remoteAddress: clientThroughEdge(request), remotePort: Number(client), localPort: Number(edge) };
}

function clientThroughEdge(request: IncomingMessage): string {
  return nodeAddress(fieldMembers(String(request.headers['x-forwarded-for'] ?? ''))[0] ?? '') ?? 'unknown';
}

export class TrustedProxies {
  /** Nobody is trusted. */
  readonly none: boolean;
  readonly #networks = new BlockList();

  /** Throws for what is neither an address nor a network; the configuration has checked them before. */
  constructor(networks: readonly string[]) {
    this.none = networks.length === 0;
    for (const text of networks) {
      const network = parseNetwork(text);
      if (network === null) throw new Error(`"${text}" is neither an address nor a network`);
      this.#networks.addSubnet(network.address, network.bits, isIP(network.address) === 4 ? 'ipv4' : 'ipv6');
    }
  }

  trusts(address: string): boolean {
    if (this.none) return false;
    const family = isIP(address);
    return family !== 0 && this.#networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
  }

  /**
   * Where a request of `peer` comes from. The path is followed back from the peer for as long as it is trusted: what lies before the
   * first address that is not could have been written by anybody, and is left out. `X-Forwarded-*` wins over `Forwarded`, which many
   * proxies let through as the client sent it.
   */
  origin(peer: string, field: FieldOf): Origin {
    const address = plainAddress(peer);
    if (!this.trusts(address)) return { path: [address], proto: null, host: null };
    const nodes = fieldMembers(field('x-forwarded-for'));
    const [protos, hosts] = [field('x-forwarded-proto'), field('x-forwarded-host')];
    if (nodes.length > 0 || protos !== '' || hosts !== '') {
      const path = this.#path(address, nodes);
      const at = (value: string): string => memberAt(fieldMembers(value), path.length - 1);
      return { path, proto: protoOf(at(protos)), host: at(hosts) || null };
    }
    const elements = parseForwarded(field('forwarded'));
    const path = this.#path(
      address,
      elements.map((element) => element.for),
    );
    const first = elements[Math.max(0, elements.length - Math.max(1, path.length - 1))];
    return { path, proto: protoOf(first?.proto ?? ''), host: first?.host || null };
  }

  /** The address of the client behind a request of node:http. */
  clientOf(request: IncomingMessage): string {
    if (THROUGH_EDGE.has(request)) return clientThroughEdge(request);
    const peer = request.socket.remoteAddress ?? 'unknown';
    if (this.none) return plainAddress(peer);
    const { headers } = request;
    return this.origin(peer, (name) => String(headers[name] ?? '')).path[0] ?? peer;
  }

  /** Of a peer that is trusted. */
  #path(peer: string, nodes: readonly string[]): string[] {
    const path = [peer];
    for (let at = nodes.length - 1; at >= 0; at--) {
      if (path.length > 1 && !this.trusts(path[0] ?? '')) break;
      const address = nodeAddress(nodes[at] ?? '');
      if (address === null) break;
      path.unshift(address);
    }
    return path;
  }
}

/** What client addresses are counted by: an IPv4 address, or the /64 network that one IPv6 client has at least. */
export function addressGroup(address: string): string {
  if (!address.includes(':')) return address;
  const bytes = addressBytes(address);
  return bytes === null ? address : Buffer.from(bytes.subarray(0, 8)).toString('hex');
}

/** Of a list that each proxy appends to: what was said `hops` proxies ago; of a list that is shorter, its first member. */
function memberAt(members: readonly string[], hops: number): string {
  return members[Math.max(0, members.length - Math.max(1, hops))] ?? '';
}

function protoOf(text: string): Origin['proto'] {
  const proto = text.toLowerCase();
  if (proto === 'https' || proto === 'wss') return 'https';
  return proto === 'http' || proto === 'ws' ? 'http' : null;
}
