/** Pure: turns a stream of bytes into lines of bounded length. Invalid UTF-8 is replaced, never refused. */
export const MAX_LINE_BYTES = 16 * 1024;

const NEWLINE = 10;

export class LineSplitter {
  #carry: Buffer = Buffer.alloc(0);
  /** The last line given out had no newline yet; a newline that comes next only ends it. */
  #continued: boolean;

  constructor(continued = false) {
    this.#continued = continued;
  }

  /** Bytes taken in but not yet given out as a line. */
  get pending(): number {
    return this.#carry.length;
  }

  push(bytes: Buffer): string[] {
    const data = this.#carry.length > 0 ? Buffer.concat([this.#carry, bytes]) : bytes;
    const lines: string[] = [];
    let start = 0;
    if (this.#continued && data.length > 0) {
      this.#continued = false;
      if (data[0] === NEWLINE) start = 1;
    }
    for (;;) {
      const newline = data.indexOf(NEWLINE, start);
      const end = newline < 0 ? data.length : newline;
      while (end - start > MAX_LINE_BYTES) {
        const cut = characterStart(data, start + MAX_LINE_BYTES);
        lines.push(decode(data.subarray(start, cut)));
        start = cut;
      }
      if (newline < 0) break;
      lines.push(decode(data.subarray(start, newline)));
      start = newline + 1;
    }
    this.#carry = Buffer.from(data.subarray(start));
    return lines;
  }

  /** What is left, as a line of its own. */
  flush(): string[] {
    if (this.#carry.length === 0) return [];
    const line = decode(this.#carry);
    this.#carry = Buffer.alloc(0);
    this.#continued = true;
    return [line];
  }
}

/** The last place at or before `index` that does not split a UTF-8 character. */
function characterStart(data: Buffer, index: number): number {
  for (let back = 0; back < 4; back += 1) {
    if (((data[index - back] ?? 0) & 0xc0) !== 0x80) return index - back;
  }
  return index;
}

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
