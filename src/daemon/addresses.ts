/** Addresses as text, and which of them are this machine's. */
import { isIPv4 } from 'node:net';

/** Of a host to listen on. Of a name such as `127.example.com` nobody knows where it leads. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Of a domain: nobody but this machine finds names below it. */
export function isLocalName(domain: string): boolean {
  return domain === 'localhost' || domain.endsWith('.localhost');
}

/** An address that can be connected to on this machine: a door bound to every address is also behind loopback. */
export function fromHere(address: { readonly host: string; readonly port: number }): { host: string; port: number } {
  const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: loopback[address.host] ?? address.host, port: address.port };
}
