/**
 * Syslog says nothing back. A connection is made for each page of lines and closed by us first; that the receiver closes it too, without
 * an error, says that it has read to the end.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { DeliveryFailure } from '../../../domain/drains/drain-sender.ts';
import type { ResolvedAddress } from '../../../lib/guarded/address-guard.ts';
import { connectionFailed } from '../../../lib/guarded/receiver-words.ts';

export interface SyslogTarget {
  readonly addresses: readonly ResolvedAddress[];
  /** Of the certificate. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** PEM of roots, in place of those that everybody trusts. */
  readonly roots?: string;
}

/** Until a connection stands, over all addresses. */
const CONNECT_MS = 15_000;

/** Throws DeliveryFailure; with a signal that fires, too. */
export async function sendSyslog(target: SyslogTarget, frames: Buffer, signal: AbortSignal): Promise<string> {
  let last: unknown = null;
  const withinMs = CONNECT_MS / target.addresses.length;
  for (const { address } of target.addresses) {
    let isConnected = false;
    try {
      const socket = await open(target, address, withinMs, signal);
      isConnected = true;
      await writeAll(socket, frames, signal);
      return `taken over ${target.isTls ? 'TLS' : 'TCP'}; syslog has no other answer`;
    } catch (error) {
      last = error;
      if (isConnected || signal.aborted) break;
    }
  }
  throw signal.aborted
    ? new DeliveryFailure('later', 'The receiver did not take the lines, and close the connection after them, in time.')
    : new DeliveryFailure('later', connectionFailed(last), { cause: last });
}

async function open(
  { host, port, isTls, roots }: SyslogTarget,
  address: string,
  withinMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connectTcp({ host: address, port });
  if (!isTls) return opened(socket, 'connect', withinMs, signal);
  const { connect } = await import('node:tls');
  const name = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const secure = connect({ socket, host, ...name, ...(roots !== undefined && { ca: roots }) });
  socket.on('error', (error) => secure.destroy(error));
  return opened(secure, 'secureConnect', withinMs, signal);
}

function opened(socket: Socket, event: string, withinMs: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => void socket.destroy(new Error('given up'));
    const late = setTimeout(giveUp, withinMs);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    socket.once('close', () => {
      clearTimeout(late);
      signal.removeEventListener('abort', giveUp);
      reject(new Error('closed'));
    });
    socket.on('error', reject);
    socket.once(event, () => {
      clearTimeout(late);
      resolve(socket);
    });
  });
}

/** The signal destroys the socket, see opened(). */
function writeAll(socket: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let isFlushed = false;
    socket.on('error', reject);
    socket.once('close', (hadError) => {
      if (isFlushed && !hadError && !signal.aborted) resolve();
      else reject(new Error('the connection broke'));
    });
    socket.resume();
    socket.end(bytes, () => {
      isFlushed = true;
    });
  });
}
