/** `host:port`, an IPv6 address in brackets. */
export function hostPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Of `host:port`. */
export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

/** The host of a URL as sockets want it: an IPv6 address without brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
