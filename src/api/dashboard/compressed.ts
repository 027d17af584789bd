/** Bytes as a browser takes them, kept for a short while: a page that opens asks for all files at once, and then for none. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

type Encoding = 'br' | 'gzip' | '';

const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);
const MOST_BYTES = 1024 * 1024;
const KEEP_MS = 60_000;
/** Best of what takes milliseconds; the highest takes seconds. */
const QUALITY = 6;

/** Brotli is offered by browsers over TLS and on the machine itself only. */
export function encodingFor(accepted: string | string[] | undefined): Encoding {
  const names = String(accepted ?? '')
    .split(',')
    .map((part) => part.trim().split(/\s*;\s*/))
    .filter(([, weight]) => !/^q=0(?:\.0*)?$/.test(weight ?? ''))
    .map(([name]) => name);
  if (names.includes('br')) return 'br';
  return names.includes('gzip') ? 'gzip' : '';
}

export class Compressed {
  readonly #kept = new Map<string, Promise<Buffer>>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  async of(key: string, bytes: Buffer, encoding: Encoding): Promise<Buffer> {
    if (encoding === '') return bytes;
    const name = `${encoding} ${key}`;
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    const made = compress(bytes, encoding);
    this.#kept.set(name, made);
    // After a failure the next request has it made anew; those who wait get the error.
    made.catch(() => this.#kept.delete(name));
    this.#forgetLater();
    const { length } = await made;
    this.#bytes += length;
    if (this.#bytes > MOST_BYTES) this.#forget();
    return made;
  }

  #forgetLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#forget(), KEEP_MS).unref();
  }

  #forget(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }
}

function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipped(bytes, { level: QUALITY });
  return brotli(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
}
