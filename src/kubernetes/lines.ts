/** Lines of a stream of bytes, without their ends; longer ones are cut. */

export class Lines {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Those that end in the chunk. */
  take(chunk: Buffer): Buffer[] {
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#parts.push(chunk.subarray(from, end));
      lines.push(this.#taken());
      from = end + 1;
    }
    if (from < chunk.length) {
      const rest = chunk.subarray(from);
      this.#parts.push(rest);
      this.#size += rest.length;
      if (this.#size > this.#maxBytes) lines.push(this.#taken());
    }
    return lines;
  }

  /** What has no end. */
  rest(): Buffer[] {
    return this.#size > 0 ? [this.#taken()] : [];
  }

  #taken(): Buffer {
    const line = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return line;
  }
}

export async function* linesOf(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  const lines = new Lines(maxBytes);
  for await (const chunk of stream) yield* lines.take(chunk);
  yield* lines.rest();
}
