/** One watch: events as they come over one answer that does not end for minutes. */
import type { IncomingMessage } from 'node:http';
import { isRecord } from '../lib/is-record.ts';
import { KubernetesError, refusalIn, UNREACHABLE } from './kubernetes-error.ts';
import { linesOf } from './lines.ts';
import type { KubernetesObject } from './objects.ts';
import type { ApiRequest, Transport } from './transport.ts';

/** Servers end watches; at times that differ, so that not all are asked for at once. */
const SHORTEST_SECONDS = 240;
const LONGEST_SECONDS = 480;
/** Bookmarks come about once a minute: who says nothing for longer is not there any more. */
const STALL_MS = 100_000;
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

export type WatchEvent<T extends KubernetesObject> =
  | { readonly kind: 'put' | 'gone'; readonly object: T }
  /** Every event up to this version has been sent. */
  | { readonly kind: 'bookmark'; readonly resourceVersion: string };

export interface WatchOptions {
  readonly signal: AbortSignal;
  readonly stallMs?: number;
  /** The server has accepted the watch: from then on it sends events. */
  readonly onOpen?: () => void;
}

export async function* watchObjects<T extends KubernetesObject>(
  transport: Transport,
  request: Pick<ApiRequest, 'path' | 'query'>,
  { signal, stallMs = STALL_MS, onOpen }: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const seconds = SHORTEST_SECONDS + Math.floor(Math.random() * (LONGEST_SECONDS - SHORTEST_SECONDS));
  const query = { ...request.query, watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(seconds) };
  const response = await transport.stream({ method: 'GET', path: request.path, query, signal });
  onOpen?.();
  const stalled = setTimeout(() => {
    response.destroy(new KubernetesError(0, UNREACHABLE, `A watch of Kubernetes has said nothing for ${stallMs} ms.`));
  }, stallMs);
  try {
    for await (const line of linesOf(response, MAX_EVENT_BYTES)) {
      stalled.refresh();
      if (line.length > 0) yield readEvent<T>(line.toString('utf8'));
    }
  } catch (error) {
    throw asBroken(error);
  } finally {
    clearTimeout(stalled);
    leave(response);
  }
}

function leave(response: IncomingMessage): void {
  // What breaks after nobody listens is no news.
  response.on('error', () => {});
  response.destroy();
}

function asBroken(error: unknown): KubernetesError {
  if (error instanceof KubernetesError) return error;
  return new KubernetesError(0, UNREACHABLE, `A watch of Kubernetes broke off: ${String(error)}`, { cause: error });
}

function readEvent<T extends KubernetesObject>(line: string): WatchEvent<T> {
  const event: unknown = JSON.parse(line);
  const { type, object } = isRecord(event) ? event : { type: '', object: null };
  if (type === 'ERROR') throw refusalIn(object);
  const metadata = isRecord(object) && isRecord(object['metadata']) ? object['metadata'] : {};
  const { resourceVersion } = metadata;
  if (typeof resourceVersion !== 'string') {
    throw new KubernetesError(
      0,
      'Malformed',
      `An event of a watch of Kubernetes cannot be read: ${line.slice(0, 200)}`,
    );
  }
  if (type === 'BOOKMARK') return { kind: 'bookmark', resourceVersion };
  return { kind: type === 'DELETED' ? 'gone' : 'put', object: object as T };
}
