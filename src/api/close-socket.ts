/** How websockets of the API end. */
import type { WebSocket } from 'ws';

export const NORMAL = 1000;
export const GOING_AWAY = 1001;
export const FAULT = 1011;

const CLOSE_MS = 2_000;

/** Resolves when it is closed; a client that does not answer is waited for so long. */
export async function closeWith(client: WebSocket, code: number, reason: string): Promise<void> {
  if (client.readyState === client.CLOSED) return;
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  const timer = setTimeout(() => client.terminate(), CLOSE_MS);
  client.close(code, reason);
  await closed;
  clearTimeout(timer);
}
