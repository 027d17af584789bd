/** The connection of one edge elsewhere, on one websocket: each message is a JSON object. What they mean is in domain/edges/edge-line.ts. */
import type { WebSocket } from 'ws';
import type { EdgeCarrier } from '../domain/edges/edge-line.ts';
import type { Call } from './call.ts';
import { closeWith, GOING_AWAY, NORMAL } from './close-socket.ts';

export function edgeCarrier(client: WebSocket, call: Call): EdgeCarrier {
  client.on('error', () => client.terminate());
  const end = (reason: string): void => void closeWith(client, GOING_AWAY, reason);
  const leave = (): void => end('the platform is stopping');
  call.signal.addEventListener('abort', leave, { once: true });
  // It may have been while the edge was being admitted.
  if (call.signal.aborted) leave();
  return {
    send: (text) => client.send(text),
    onText: (listener) => client.on('message', (bytes) => listener(textOf(bytes))),
    // Who closes it so has finished what it had begun.
    ended: new Promise((resolve) => client.once('close', (code) => resolve(code === NORMAL))),
    end,
  };
}

function textOf(bytes: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(bytes)) return Buffer.concat(bytes).toString();
  return Buffer.isBuffer(bytes) ? bytes.toString() : Buffer.from(bytes).toString();
}
