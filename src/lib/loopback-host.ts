const LOOPBACK = /^(?:localhost|[a-z0-9.-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])\.?(?::\d{1,5})?$/i;

/** True for a Host field that names this machine from itself; a page of another site cannot make a browser send one. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}
