/**
 * A unit that lives inside this process and obeys a small command language, statements separated by `;`:
 * `print <text with $NAME>`, `sleep <ms>`, `exit <code>`, `die <SIGNAL>`, `take <bytes>` (of memory), `ignore-term`, `stay`, `serve`,
 * `serve-elsewhere`.
 * `serve` really answers over HTTP: `/` 200, `/broken` 500, `/unit` its name, `/say?<text>` prints, `/crash` ends it with code 7, `/hang`
 * makes that the last request it has looked at.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OutputChunk, OutputLine, UnitExited, UnitSpec } from '../../../domain/units/provisioner.ts';
import { createServer } from '../../../lib/node-http.ts';

export type MemoryExit = Omit<UnitExited, 'id'>;

export class MemoryUnit {
  readonly ended: Promise<MemoryExit>;
  exit: MemoryExit | null = null;
  /** Where `serve` or `serve-elsewhere` listens. */
  port: number | null = null;
  isElsewhere = false;
  isHung = false;
  readonly #environment: Readonly<Record<string, string>>;
  /** 0 for no limit. */
  readonly #memoryBytes: number;
  readonly #print: (text: string) => void;
  readonly #listen: { readonly host: string; readonly port: number };
  readonly #end = new AbortController();
  #resolveEnded: (exit: MemoryExit) => void = () => undefined;
  #server: Server | null = null;
  #ignoresTerm = false;
  #isBroken = false;

  constructor(
    spec: Pick<UnitSpec, 'command' | 'limits'>,
    environment: Readonly<Record<string, string>>,
    print: (text: string) => void,
    /** Where `serve` listens. */
    listen: { readonly host: string; readonly port: number } = { host: '127.0.0.1', port: 0 },
  ) {
    this.#listen = listen;
    this.#environment = environment;
    this.#memoryBytes = spec.limits.memoryBytes;
    this.#print = print;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    void this.#run(spec.command.split(';').map((statement) => statement.trim()));
  }

  /** From now on every answer is 500. */
  breakDown(): void {
    this.#isBroken = true;
  }

  async signal(name: string): Promise<void> {
    if (name === 'SIGTERM' && this.#ignoresTerm) return;
    await this.#finish({ code: null, signal: name, outOfMemory: false });
  }

  /** It is gone with what it ran on. */
  async lose(): Promise<void> {
    await this.#finish({ code: null, signal: null, outOfMemory: false, isLost: true });
  }

  async #run(statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      if (this.exit !== null) return;
      const ending = await this.#obey(statement);
      if (ending === 'stays') return;
      if (ending !== null) return this.#finish({ outOfMemory: false, ...ending });
    }
    await this.#finish({ code: 0, signal: null, outOfMemory: false });
  }

  /** How the unit ends by this statement; null when it goes on. */
  async #obey(
    statement: string,
  ): Promise<(Pick<MemoryExit, 'code' | 'signal'> & Partial<MemoryExit>) | 'stays' | null> {
    const space = statement.indexOf(' ');
    const [word, rest] = space < 0 ? [statement, ''] : [statement.slice(0, space), statement.slice(space + 1)];
    switch (word) {
      case '':
        return null;
      case 'print':
      case 'echo':
        this.#print(rest.replace(/\$([A-Z_]+)/g, (_, name: string) => this.#environment[name] ?? ''));
        return null;
      case 'print-much':
        for (let line = 0; line < Number(rest); line++) this.#print(`line ${line} ${'x'.repeat(100)}`);
        return null;
      case 'sleep':
        await this.#sleep(Number(rest));
        return null;
      case 'exit':
        return { code: Number(rest), signal: null };
      case 'die':
        return { code: null, signal: rest };
      case 'take':
        if (this.#memoryBytes === 0 || Number(rest) <= this.#memoryBytes) return null;
        return { code: null, signal: 'SIGKILL', outOfMemory: true };
      case 'ignore-term':
        this.#ignoresTerm = true;
        return null;
      case 'stay':
        return 'stays';
      case 'serve':
      case 'serve-elsewhere':
        this.isElsewhere = word === 'serve-elsewhere';
        await this.#serve();
        return 'stays';
      default:
        this.#print(`${word}: not found`);
        return { code: 127, signal: null };
    }
  }

  async #serve(): Promise<void> {
    const server = createServer((request, response) => this.#answer(request, response));
    this.#server = server;
    await new Promise<void>((resolve) =>
      server.listen(this.isElsewhere ? 0 : this.#listen.port, this.#listen.host, resolve),
    );
    if (this.exit !== null) {
      server.close();
      return;
    }
    this.port = (server.address() as AddressInfo).port;
    this.#print('listening');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    if (url === '/hang') this.isHung = true;
    if (this.isHung) return;
    if (url === '/crash') {
      void this.#finish({ code: 7, signal: null, outOfMemory: false });
      return;
    }
    if (url.startsWith('/say?')) this.#print(url.slice(5));
    response.statusCode = this.#isBroken || url === '/broken' ? 500 : 200;
    response.end(url === '/unit' ? (this.#environment.TANCHO_UNIT ?? '') : 'hello');
  }

  async #sleep(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#end.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #finish(exit: MemoryExit): Promise<void> {
    if (this.exit !== null) return;
    this.exit = exit;
    this.port = null;
    this.#end.abort();
    const server = this.#server;
    if (server?.listening === true) {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    }
    this.#resolveEnded(exit);
  }
}

/** Nothing to be counted with. */
function cursorAt(offset: number): string {
  return `after ${offset.toString(36)}`;
}

export function offsetOf(cursor: string | null): number {
  return cursor === null ? 0 : parseInt(cursor.replace('after ', ''), 36);
}

/** Lines with the byte offsets they would have in a file. */
const LEFT_BYTES = 1024 * 1024;

export class MemoryOutput {
  readonly #lines: { readonly line: OutputLine; readonly end: number }[] = [];
  #givenUp = { from: 0, upTo: 0, lines: 0 };
  #wake: Set<() => void> = new Set();

  get size(): number {
    return this.#lines.at(-1)?.end ?? 0;
  }

  print(text: string): void {
    const end = this.size + Buffer.byteLength(text) + 1;
    this.#lines.push({ line: { at: new Date().toISOString(), text }, end });
    this.notice();
  }

  notice(): void {
    for (const wake of this.#wake) wake();
  }

  last(count: number): string[] {
    return this.#lines.slice(-count).map(({ line }) => line.text);
  }

  /** As on a disk, where a megabyte is left. */
  giveUp(after: string | null): boolean {
    const from = offsetOf(after);
    const isMore = from >= this.#givenUp.from && from < this.#givenUp.upTo;
    const begin = isMore ? this.#givenUp.upTo : from;
    if (this.size - begin < 2 * LEFT_BYTES) return false;
    const gone = this.#lines.filter(({ end }) => end > begin && end <= this.size - LEFT_BYTES);
    const upTo = gone.at(-1)?.end ?? begin;
    this.#givenUp = { from, upTo, lines: gone.length + (isMore ? this.#givenUp.lines : 0) };
    return gone.length > 0;
  }

  async *read(after: string | null, isOver: () => boolean, signal: AbortSignal): AsyncGenerator<OutputChunk> {
    const from = offsetOf(after);
    const { from: gone, upTo, lines } = this.#givenUp;
    const isGivenUp = from >= gone && from < upTo;
    let offset = isGivenUp ? upTo : from;
    if (isGivenUp)
      yield { missing: { lines, bytes: upTo - from, why: 'no room' }, lines: [], cursor: cursorAt(offset) };
    const notice = (): void => this.notice();
    signal.addEventListener('abort', notice);
    try {
      for (;;) {
        if (signal.aborted) return;
        const wasOver = isOver();
        const found = this.#lines.filter(({ end }) => end > offset);
        if (found.length > 0) {
          offset = this.size;
          yield { lines: found.map(({ line }) => line), cursor: cursorAt(offset) };
          continue;
        }
        if (wasOver) return;
        await new Promise<void>((resolve) => {
          const wake = (): void => {
            this.#wake.delete(wake);
            resolve();
          };
          this.#wake.add(wake);
        });
      }
    } finally {
      signal.removeEventListener('abort', notice);
    }
  }
}
