/** What is known of a request before anything of it is read: its id, where it comes from, how long its body may take. */
import type { IncomingMessage } from 'node:http';
import { randomHex } from '../lib/ids.ts';
import type { TrustedProxies } from '../lib/trusted-proxies.ts';
import { SOCKET_ADDRESS } from './caller.ts';

/** Marked by the listener of the unix socket: a missing remote address would also be that of a client that is gone. */
const OVER_SOCKET = new WeakSet<IncomingMessage>();
/** Whose path had a version before it. */
const VERSIONED = new WeakSet<IncomingMessage>();
const BODY_TIMEOUT_MS = 60_000;

export function markOverSocket(request: IncomingMessage): void {
  OVER_SOCKET.add(request);
}

export function cameOverSocket(request: IncomingMessage): boolean {
  return OVER_SOCKET.has(request);
}

export function markVersioned(request: IncomingMessage): void {
  VERSIONED.add(request);
}

/** Clients from 1.0 on: they read JSON stream lines, and the error in them. */
export function isVersioned(request: IncomingMessage): boolean {
  return VERSIONED.has(request);
}

/** `proxies` are believed for whom they speak. */
export function addressOf(request: IncomingMessage, proxies: TrustedProxies): string {
  return cameOverSocket(request) ? SOCKET_ADDRESS : proxies.clientOf(request);
}

export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{8,64}$/.test(given) ? given : randomHex(16);
}

/** Of the path of a URL. */
export function endsInSlash(url: string): boolean {
  return (url.split('?', 1)[0] ?? '').endsWith('/');
}

/** The returned function ends the limit. Nobody reads a body of no bytes, so what has arrived is not only what was read to its end. */
export function limitBodyTime(request: IncomingMessage, ms: number = BODY_TIMEOUT_MS): () => void {
  if (request.headers['transfer-encoding'] === undefined && request.headers['content-length'] === undefined)
    return () => {};
  const timer = setTimeout(() => request.complete || request.destroy(), ms);
  const stop = (): void => clearTimeout(timer);
  request.once('end', stop).once('close', stop);
  return stop;
}
