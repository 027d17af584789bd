/**
 * Bodies that bring code: a form with a file in it, the file alone, or a form that says where the code is. The file is handed
 * on piece by piece and never held; everything else is small and bounded.
 */
import type { Busboy, BusboyHeaders } from '@fastify/busboy';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { PlatformError } from '../domain/errors.ts';
import { inTime } from '../lib/deadline.ts';
import { decodeBody, readBodyFields, scalarText } from './body.ts';

export interface UploadBody {
  /** The file, when there is one; to be read to its end before `field` knows what comes after it. */
  readonly archive: AsyncIterable<Uint8Array> | null;
  /** '' when the form does not have it. */
  field(name: string): string;
}

/** A request whose body is not read yet. */
export interface PendingUpload {
  /** Throws PlatformError `input.invalid`, `input.invalid_json`, `input.too_large`, `timeout`. */
  read(): Promise<UploadBody>;
}

type Parser = InstanceType<typeof Busboy>;

const MAX_UPLOAD_BYTES = 512 * 1024 * 1024;
const MAX_FIELDS = 50;
const MAX_FIELD_BYTES = 64 * 1024;
const MAX_FORM_BYTES = 256 * 1024;
/** Without a byte, and for all that comes before the file. */
const STALL_MS = 60_000;
/** While we wait for it, or a connection could be held for ever by a byte now and then. */
const LEAST_BYTES_PER_SECOND = 1_024;
const ARCHIVE_TYPE = /^application\/(?:x-)?(?:gzip|tar|gtar|compressed|compressed-tar|tgz|octet-stream)$/;

/** Throws `input.too_large` when the client says beforehand that it is too much. */
export function demandSize(request: IncomingMessage): void {
  if (Number(request.headers['content-length'] ?? 0) <= MAX_UPLOAD_BYTES) return;
  throw new PlatformError('input.too_large', 'The upload is too large.', {
    hint: `Send at most ${MAX_UPLOAD_BYTES / 1024 / 1024} MiB; leave out what is installed or generated.`,
  });
}

/** `stallMs`: how long the client may send nothing; over so long a wait it has to send at the least rate. */
export function pendingUpload(request: IncomingMessage, contentType: string, stallMs = STALL_MS): PendingUpload {
  const mediaType = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return {
    async read() {
      if (mediaType.startsWith('multipart/')) {
        return readMultipart(request, await multipartParser(contentType), stallMs);
      }
      const chunks = steadily(
        request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>,
        endedEarly,
        stallMs,
      );
      const first = await chunks.next();
      const start = first.done === true ? new Uint8Array() : first.value;
      const isGzip = start[0] === 0x1f && start[1] === 0x8b;
      if (isGzip || (ARCHIVE_TYPE.test(mediaType) && start.length > 0)) {
        return { archive: withFirst(start, chunks), field: () => '' };
      }
      const fields = readBodyFields(decodeBody(await joined(start, chunks), contentType));
      return { archive: null, field: (name) => scalarText(name, fields.get(name)?.at(-1)) };
    },
  };
}

async function* withFirst(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function joined(first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks = [first];
  let size = first.length;
  for await (const chunk of rest) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) {
      throw new PlatformError('input.too_large', 'The request body is too large.', {
        hint: 'Send code as the part "file" of a multipart form, or with Content-Type: application/gzip.',
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Resolves at the file, or at the end of a form without one. */
function readMultipart(request: IncomingMessage, parser: Parser, stallMs: number): Promise<UploadBody> {
  const fields = new Map<string, string>();
  const field = (name: string): string => fields.get(name) ?? '';
  return new Promise((resolve, reject) => {
    let file: Readable | null = null;
    let endWatch = (): void => {};
    const finished = new Promise<void>((done, failed) => {
      parser.once('finish', done);
      const stop = (error: Error): void => {
        endWatch();
        request.unpipe(parser);
        file?.destroy(error);
        failed(error);
        reject(error);
      };
      parser.once('error', (error) => stop(malformed((error as Error).message)));
      request.once('error', () => stop(endedEarly()));
      request.once('aborted', () => stop(endedEarly()));
      const timer = setTimeout(() => stop(halted()), stallMs);
      endWatch = () => clearTimeout(timer);
    });
    finished.then(
      () => {
        endWatch();
        resolve({ archive: null, field });
      },
      () => {},
    );
    parser.on('field', (name, value) => fields.set(name, value));
    parser.on('file', (_name, stream) => {
      file = stream;
      // From here on it is read as fast as it is used, so silence may be ours.
      endWatch();
      // Whoever reads it gets the error.
      stream.on('error', () => {});
      resolve({ archive: fileOf(stream, finished, stallMs), field });
    });
    request.pipe(parser);
  });
}

async function multipartParser(contentType: string): Promise<Parser> {
  const { Busboy } = await import('@fastify/busboy');
  const limits = {
    files: 1,
    fields: MAX_FIELDS,
    fieldSize: MAX_FIELD_BYTES,
    fieldNameSize: 200,
    parts: MAX_FIELDS + 1,
  };
  const headers: BusboyHeaders = { 'content-type': contentType };
  try {
    return new Busboy({ headers, limits: { ...limits, fileSize: MAX_UPLOAD_BYTES } });
  } catch (error) {
    throw malformed((error as Error).message);
  }
}

async function* fileOf(stream: Readable, finished: Promise<void>, stallMs: number): AsyncGenerator<Uint8Array> {
  const chunks = stream.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Uint8Array>;
  yield* steadily(chunks, malformed, stallMs);
  if ((stream as Readable & { truncated?: boolean }).truncated === true) {
    throw new PlatformError('input.too_large', 'The upload is too large.');
  }
  await inTime(stallMs, finished, halted);
}

/** Gives up on who sends nothing any more, or next to nothing. */
async function* steadily(
  chunks: AsyncIterableIterator<Uint8Array>,
  failure: (why: string) => PlatformError,
  stallMs: number,
): AsyncGenerator<Uint8Array, undefined> {
  let [waitedMs, bytes] = [0, 0];
  for (;;) {
    try {
      const since = performance.now();
      const next = await inTime(stallMs, chunks.next(), halted);
      if (next.done === true) return;
      waitedMs += performance.now() - since;
      bytes += next.value.length;
      if (waitedMs >= stallMs) {
        if (bytes < (LEAST_BYTES_PER_SECOND * stallMs) / 1_000) throw halted();
        [waitedMs, bytes] = [0, 0];
      }
      yield next.value;
    } catch (error) {
      throw error instanceof PlatformError ? error : failure((error as Error).message);
    }
  }
}

function malformed(why: string): PlatformError {
  return new PlatformError('input.invalid', `The form cannot be read: ${why}.`, {
    hint: 'Send multipart/form-data with the archive as the part "file".',
  });
}

function halted(): PlatformError {
  return new PlatformError('timeout', 'The upload has come to a halt.', { hint: 'Send it again.' });
}

function endedEarly(): PlatformError {
  return new PlatformError('cancelled', 'The upload ended before its last byte.', { hint: 'Send it again.' });
}
