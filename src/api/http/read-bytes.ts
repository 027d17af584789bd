/** Reads the body of a request whole, within a limit. */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../domain/errors.ts';

/** Throws PlatformError `input.too_large`, `cancelled`. */
export function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (!announcesBody(request)) return Promise.resolve(Buffer.alloc(0));
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) return Promise.reject(tooLarge(limitBytes));
  if (request.destroyed) return Promise.reject(endedEarly());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (settled: () => void): void => {
      request.off('data', take).off('end', end).off('error', lost).off('close', lost);
      settled();
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limitBytes) settle(() => reject(tooLarge(limitBytes)));
      else chunks.push(chunk);
    };
    const end = (): void => settle(() => resolve(Buffer.concat(chunks, size)));
    const lost = (): void => settle(() => reject(endedEarly()));
    request.on('data', take).on('end', end).on('error', lost).on('close', lost);
  });
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function tooLarge(limitBytes: number): PlatformError {
  const message = `The request body is too large: at most ${limitBytes / 1024} KiB are taken here.`;
  return new PlatformError('input.too_large', message, { hint: 'Send less at once.' });
}

function endedEarly(): PlatformError {
  return new PlatformError('cancelled', 'The request ended before its last byte.', { hint: 'Send it again.' });
}
