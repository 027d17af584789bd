/** Addresses as text, and which of them are this machine's. */

export function isLoopback(host: string): boolean {
  return /^(?:127\.|::1$|localhost$)/.test(host);
}

/** An address that can be connected to on this machine: a door bound to every address is also behind loopback. */
export function fromHere(address: { readonly host: string; readonly port: number }): { host: string; port: number } {
  const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  return { host: loopback[address.host] ?? address.host, port: address.port };
}

export function portOf(listen: string): number {
  return Number(listen.slice(listen.lastIndexOf(':') + 1));
}
