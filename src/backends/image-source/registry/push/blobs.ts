/** Blobs that are pushed, from where they are: files here, texts, and other registries. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { downloadFile } from '../download.ts';
import type { Descriptor } from '../manifests.ts';
import type { RegistryClient } from '../registry-client.ts';
import type { Publishing } from './image-pushes.ts';
import type { PushedBlob } from './push-blob.ts';

const READ_BYTES = 256 * 1024;

/** In a file that is there, or is fetched when its bytes are wanted. */
export function fileBlob({ digest, size }: Descriptor, file: string, bring?: () => Promise<void>): PushedBlob {
  return {
    digest,
    size,
    async *read(from, to) {
      await bring?.();
      if (to === from) return;
      yield* createReadStream(file, { start: from, end: to - 1, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
    },
  };
}

export function textBlob({ text, digest }: { readonly text: string; readonly digest: string }): PushedBlob {
  const bytes = Buffer.from(text);
  return {
    digest,
    size: bytes.length,
    async *read(from, to) {
      yield bytes.subarray(from, to);
    },
  };
}

/** Of another repository: not downloaded at all where the target has it, or can take it from there by itself. */
export function copiedBlob(
  {
    directory,
    options,
    target,
    signal,
  }: Pick<Publishing, 'directory' | 'target' | 'signal'> & {
    readonly options: Pick<Publishing['options'], 'limits'>;
  },
  source: RegistryClient,
  blob: Descriptor,
): PushedBlob {
  const file = join(directory, blob.digest.replace(/^sha256:/, ''));
  const bring = async (): Promise<void> => {
    if ((await stat(file).catch(() => null))?.size === blob.size) return;
    await downloadFile({ client: source, blob, stallMs: options.limits.stallMs, signal }, file);
  };
  const mount = source.host === target.host ? { mountFrom: source.repository } : {};
  return { ...fileBlob(blob, file, bring), ...mount };
}
