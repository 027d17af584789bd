/**
 * Brings one blob into a repository: not at all where it is there, by a word where the registry has it elsewhere, else byte by byte, large ones
 * in pieces, of which only what is lost is sent again.
 */
import type { IncomingMessage } from 'node:http';
import { RequestFailure } from '../../../../lib/guarded/guarded-request.ts';
import { notPushed } from '../failures.ts';
import type { RegistryClient } from '../registry-client.ts';

/** Something that is pushed, as often as it is wanted. */
export interface PushedBlob {
  readonly digest: string;
  readonly size: number;
  /** From one byte up to before another. */
  readonly read: (from: number, to: number) => AsyncIterable<Uint8Array> | string;
  /** A repository of the same registry that has it. */
  readonly mountFrom?: string;
}

type PushedHow = 'there' | 'mounted' | 'sent';

export interface BlobPush {
  readonly client: RegistryClient;
  readonly signal: AbortSignal;
  /** Of bytes in one piece. */
  readonly pieceBytes?: number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const PIECE_BYTES = 32 * 1024 * 1024;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const BYTES = 'application/octet-stream';

/** Throws Failure `push_failed`, RequestFailure, and what the signal says. */
export async function pushBlob(push: BlobPush, blob: PushedBlob): Promise<PushedHow> {
  return patiently(push, () => attempt(push, blob));
}

/** Again while it is the registry's fault, and may pass. */
export async function patiently<T>(push: BlobPush, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    push.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      const isPassing = error instanceof Passing || (error instanceof RequestFailure && error.code === 'unreachable');
      const reason: unknown = error instanceof Passing ? error.failure : error;
      if (!isPassing || tries === ATTEMPTS || push.signal.aborted) throw reason;
      const waitMs = error instanceof Passing ? error.waitMs : 0;
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(waitMs, FIRST_PAUSE_MS * 2 ** (tries - 1)));
      await (push.pause ?? paused)(pauseMs, push.signal);
    }
  }
}

async function attempt({ client, pieceBytes = PIECE_BYTES, ...push }: BlobPush, blob: PushedBlob): Promise<PushedHow> {
  const { digest, size, mountFrom } = blob;
  const known = await said(client, { method: 'HEAD', to: `blobs/${digest}` });
  if (known.statusCode === 200) return 'there';
  if (known.statusCode !== 404) throw refused(client, known);
  const query = mountFrom === undefined ? '' : `?${new URLSearchParams({ mount: digest, from: mountFrom }).toString()}`;
  const begun = await said(client, {
    method: 'POST',
    to: `blobs/uploads/${query}`,
    headers: { 'content-length': '0' },
  });
  if (begun.statusCode === 201) return 'mounted';
  if (begun.statusCode !== 202) throw refused(client, begun);
  let place = await client.placeOf(begun);
  let at = 0;
  if (size > pieceBytes) ({ place, at } = await inPieces({ client, pieceBytes, ...push }, blob, place));
  const last = new URL(place);
  last.searchParams.set('digest', digest);
  const ended = await said(client, {
    method: 'PUT',
    to: last,
    headers: { 'content-type': BYTES, 'content-length': `${size - at}` },
    body: () => blob.read(at, size),
  });
  if (ended.statusCode !== 201) throw refused(client, ended);
  return 'sent';
}

async function inPieces(
  push: Required<Pick<BlobPush, 'client' | 'pieceBytes' | 'signal'>> & BlobPush,
  { size, read }: PushedBlob,
  start: URL,
): Promise<{ place: URL; at: number }> {
  const { client, pieceBytes, signal } = push;
  let [place, at, failures] = [start, 0, 0];
  while (size - at > pieceBytes) {
    signal.throwIfAborted();
    const [from, to] = [at, at + pieceBytes];
    try {
      const headers = { 'content-type': BYTES, 'content-length': `${to - from}`, 'content-range': `${from}-${to - 1}` };
      const answer = await said(client, { method: 'PATCH', to: place, headers, body: () => read(from, to) });
      if (answer.statusCode !== 202) throw refused(client, answer);
      place = await client.placeOf(answer);
      [at, failures] = [to, 0];
    } catch (error) {
      failures += 1;
      if (!(error instanceof RequestFailure) || error.code !== 'unreachable' || failures >= ATTEMPTS) throw error;
      // A piece may have come in part: the registry says up to where.
      const asked = await said(client, { method: 'GET', to: place });
      if (asked.statusCode !== 204) throw error;
      at = Number(/^(?:bytes=)?0-(\d+)$/.exec(asked.headers.range ?? '')?.[1] ?? -1) + 1;
      if (at > size) throw notPushed('the registry says that it has more than was sent.');
    }
  }
  return { place, at };
}

/** The head of an answer whose body says nothing that is needed. */
async function said(client: RegistryClient, request: Parameters<RegistryClient['send']>[0]): Promise<IncomingMessage> {
  const answer = await client.send(request);
  if ((answer.statusCode ?? 0) < 300 || request.method === 'HEAD') answer.destroy();
  return answer;
}

/** What may pass. */
class Passing extends Error {
  readonly failure: Error;
  readonly waitMs: number;

  constructor(failure: Error, waitMs: number) {
    super(failure.message);
    this.failure = failure;
    this.waitMs = waitMs;
  }
}

/** Throws never. */
export function refused(client: RegistryClient, answer: IncomingMessage): Error {
  const { statusCode = 0, headers } = answer;
  answer.destroy();
  const failure = client.refusal(statusCode);
  if (statusCode !== 429 && statusCode < 500) return failure;
  const seconds = Number(headers['retry-after'] ?? 0);
  return new Passing(failure, Number.isFinite(seconds) ? seconds * 1000 : 0);
}

async function paused(ms: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: after } = await import('node:timers/promises');
  await after(ms, undefined, { signal });
}
