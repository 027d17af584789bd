/** Pure: turns a stream of bytes into lines of bounded length. Invalid UTF-8 is replaced, never refused. */
export const MAX_LINE_BYTES = 16 * 1024;

const NEWLINE = 10;

/** Where a line was cut, or given out before its end, its parts say so. */
export interface LinePart {
  readonly text: string;
  /** What was given out before it is of the same line. */
  readonly continues: boolean;
  /** What comes next may be of the same line. */
  readonly goesOn: boolean;
}

export class LineSplitter {
  #carry: Buffer = Buffer.alloc(0);
  /** The last line given out had no newline yet; a newline that comes next only ends it. */
  #continued: boolean;
  /** The carry is not the beginning of its line. */
  #inside: boolean;

  constructor(continued = false) {
    this.#continued = continued;
    this.#inside = continued;
  }

  /** Bytes taken in but not yet given out as a line. */
  get pending(): number {
    return this.#carry.length;
  }

  push(bytes: Buffer): LinePart[] {
    const data = this.#carry.length > 0 ? Buffer.concat([this.#carry, bytes]) : bytes;
    const lines: LinePart[] = [];
    let start = 0;
    if (this.#continued && data.length > 0) {
      this.#continued = false;
      if (data[0] === NEWLINE) {
        start = 1;
        this.#inside = false;
      }
    }
    for (;;) {
      const newline = data.indexOf(NEWLINE, start);
      const end = newline < 0 ? data.length : newline;
      while (end - start > MAX_LINE_BYTES) {
        const cut = characterStart(data, start + MAX_LINE_BYTES);
        lines.push(this.#part(data.subarray(start, cut), true));
        start = cut;
      }
      if (newline < 0) break;
      lines.push(this.#part(data.subarray(start, newline), false));
      start = newline + 1;
    }
    this.#carry = Buffer.from(data.subarray(start));
    return lines;
  }

  /** What is left, as a line of its own. */
  flush(): LinePart[] {
    if (this.#carry.length === 0) return [];
    const line = this.#part(this.#carry, true);
    this.#carry = Buffer.alloc(0);
    this.#continued = true;
    return [line];
  }

  #part(bytes: Buffer, goesOn: boolean): LinePart {
    const part = { text: decode(bytes), continues: this.#inside, goesOn };
    this.#inside = goesOn;
    return part;
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
