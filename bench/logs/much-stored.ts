/** Ten million lines of two hundred apps, put into the log store by its own door, as the collector does; one app has a gigabyte. */
import type { LogEntry } from '../../src/domain/logs/entry.ts';
import type { LogStore } from '../../src/domain/logs/log-store.ts';

export const LARGE_APP = 'large';
export const SMALL_APPS = 199;
export const LINES = 10_000_000;
const LARGE_BYTES = 1_000_000_000;
/** As one read of a unit's output brings. */
const BATCH_BYTES = 64 * 1024;
const DAY_MS = 86_400_000;

/** In the large log alone, so often. */
export const RARE = { word: 'zugzwang-4711', times: 5 };
/** Of every so many lines one is found by it. */
export const PATTERN = { text: 'status=5\\d\\d .*took=9\\d{3}ms', everyLines: 50_000 };

export function smallApp(index: number): string {
  return `small-${index}`;
}

/** Answers the bytes of all lines. */
export async function writeMuch(store: LogStore): Promise<number> {
  const lines = new Lines();
  const { bytes, lines: number } = await fillLarge(store, LARGE_BYTES, lines);
  let others = 0;
  const each = Math.ceil((LINES - number) / SMALL_APPS);
  for (let written = 0; written < each;) {
    let count = 0;
    for (let index = 0; index < SMALL_APPS; index++) {
      const batch = lines.batch(smallApp(index), written);
      await store.append(batch.entries);
      others += batch.bytes;
      count = batch.entries.length;
    }
    written += count;
  }
  return bytes + others;
}

export async function fillLarge(store: LogStore, most: number, lines = new Lines()) {
  let bytes = 0;
  let number = 0;
  while (bytes < most) {
    const batch = lines.batch(LARGE_APP, number);
    await store.append(batch.entries);
    bytes += batch.bytes;
    number += batch.entries.length;
  }
  return { bytes, lines: number };
}

/** As three kinds of programs print: an access log, JSON, a framework's own log. Numbers that nobody can guess, but the same in each run. */
class Lines {
  #random = 4711;
  #at = Date.now() - DAY_MS;

  batch(app: string, from: number): { readonly entries: LogEntry[]; readonly bytes: number } {
    const entries: LogEntry[] = [];
    let bytes = 0;
    this.#at += 2;
    const at = new Date(this.#at).toISOString();
    const own = { seq: 0, at, app, source: 'web', unit: `${app}/0`, unitId: 'aaaaaaaaaaaa', release: 1 };
    while (bytes < BATCH_BYTES) {
      const message = this.#line(app, from + entries.length);
      entries.push({ ...own, message });
      bytes += message.length + 1;
    }
    return { entries, bytes };
  }

  #line(app: string, number: number): string {
    if (app === LARGE_APP) {
      if (number % (1_300_000 - 1) === 1_000 && number < 1_300_000 * RARE.times) return `the word is ${RARE.word}`;
      if (number % PATTERN.everyLines === 17_000)
        return `GET /slow status=503 id=${this.#hex()} took=9${this.#below(900) + 100}ms`;
    }
    const kind = number % 3;
    if (kind === 0) {
      const address = `10.${this.#below(256)}.${this.#below(256)}.${this.#below(256)}`;
      return `${address} - - "GET /products/${this.#below(90_000)}?page=${this.#below(40)} HTTP/1.1" status=${this.#status()} ${this.#below(50_000)} "Mozilla/5.0 (X11; Linux x86_64)" took=${this.#below(900)}ms`;
    }
    if (kind === 1) {
      return `{"level":"info","time":"${new Date(this.#at).toISOString()}","request":"${this.#hex()}","user":${this.#below(1_000_000)},"message":"order placed","items":${this.#below(9)},"total":${this.#below(99_999)}}`;
    }
    return `  at Worker.handle (/app/node_modules/queue/lib/worker-${this.#below(30)}.js:${this.#below(900)}:${this.#below(80)}) job=${this.#hex()}`;
  }

  #status(): number {
    return [200, 200, 200, 200, 304, 404, 201, 500][this.#below(8)] ?? 200;
  }

  #hex(): string {
    return `${this.#next().toString(16).padStart(8, '0')}${this.#next().toString(16).padStart(8, '0')}`;
  }

  #below(limit: number): number {
    return this.#next() % limit;
  }

  /** xorshift32. */
  #next(): number {
    let value = this.#random;
    value ^= value << 13;
    value ^= value >>> 17;
    value ^= value << 5;
    this.#random = value >>> 0;
    return this.#random;
  }
}
