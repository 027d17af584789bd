/**
 * Decides which addresses may be called on behalf of users: resolves a host once, checks every address it has, and answers the
 * checked ones for the connection, so that a name which changes its mind in between gains nothing. It connects to nothing.
 */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { type AddressKind, addressKindOf } from './address-class.ts';
import { allowList, isAllowed } from './allow-list.ts';
import { addressBytes, embeddedIPv4 } from './ip-address.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a host name; throws when it has none. */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>;

export interface AddressGuardOptions {
  /** Hosts, addresses and CIDR networks that may be called although they are loopback or private. */
  readonly allow: readonly string[];
  readonly allowLoopback: boolean;
  /** Ports of this program; on this machine's own addresses they are never called. */
  readonly ownPorts: () => readonly number[];
  readonly resolve?: Resolve;
  /** Addresses of this machine besides loopback. */
  readonly ownAddresses?: () => readonly string[];
}

export interface AddressGuard {
  /** The addresses to connect to, in order; at least one. Errors: ForbiddenAddress, UnknownHost. */
  check(url: URL): Promise<readonly ResolvedAddress[]>;
}

/** `message` names the host and what is wrong with it, not the address it has: that may be none of the caller's business. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
}

export class UnknownHost extends Error {
  override readonly name = 'UnknownHost';
}

export function createAddressGuard(options: AddressGuardOptions): AddressGuard {
  const { allowLoopback, ownPorts, resolve = systemResolve, ownAddresses = machineAddresses } = options;
  const list = allowList(options.allow);

  function demand(host: string, address: string, port: number): void {
    const place = addressKindOf(address);
    if (place.class === 'never') throw forbidden(host, place);
    const isHere = place.class === 'loopback' || isOneOf(address, ownAddresses());
    if (isHere && ownPorts().includes(port)) {
      throw new ForbiddenAddress(`${host}:${port} is the platform itself, which is never called.`);
    }
    if (place.class === 'public' || isAllowed(list, host, address)) return;
    if (place.class === 'loopback' && allowLoopback) return;
    throw forbidden(host, place, 'An operator can allow it in the setting providers.allow.');
  }

  return {
    async check(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new ForbiddenAddress(`Only http and https addresses are called, not ${url.protocol}`);
      }
      const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
      // The URL parser has turned 0x7f.1, 2130706433 and the like into dotted addresses.
      const host = url.hostname.replace(/^\[(.*)\]$/s, '$1').replace(/\.$/, '');
      const family = familyOf(host);
      const found = family === null ? await addressesOf(resolve, host) : [{ address: host, family }];
      for (const { address } of found) demand(host, address, port);
      return found;
    },
  };
}

async function addressesOf(resolve: Resolve, host: string): Promise<readonly ResolvedAddress[]> {
  let found: readonly ResolvedAddress[];
  try {
    found = await resolve(host);
  } catch (error) {
    throw new UnknownHost(`The name ${host} has no address.`, { cause: error });
  }
  if (found.length === 0) throw new UnknownHost(`The name ${host} has no address.`);
  return found;
}

const systemResolve: Resolve = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

function familyOf(host: string): 4 | 6 | null {
  const bytes = addressBytes(host);
  return bytes === null ? null : bytes.length === 4 ? 4 : 6;
}

function isOneOf(address: string, own: readonly string[]): boolean {
  const known = new Set(own.map(key));
  const bytes = addressBytes(address);
  const forms = bytes === null ? [] : [bytes, ...embeddedIPv4(bytes)];
  return forms.some((form) => known.has(form.join('.')));
}

function key(address: string): string {
  return (addressBytes(address) ?? []).join('.');
}

function forbidden(host: string, place: AddressKind, hint = 'Such addresses are never called.'): ForbiddenAddress {
  return new ForbiddenAddress(`The address of ${host} may not be called: it is ${place.words}. ${hint}`);
}
