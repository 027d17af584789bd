/** `host:port`, an IPv6 address in brackets. */
export function hostPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
