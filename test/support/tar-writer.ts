/** Tar files entry by entry, also such as no tar program would make. */
export interface TarEntry {
  readonly path: string;
  readonly type?: 'file' | 'directory' | 'symlink' | 'hardlink' | 'character' | 'block' | 'fifo';
  readonly data?: Buffer | string;
  /** Of links. */
  readonly target?: string;
  readonly mode?: number;
  /** Instead of the length of `data`, which comes all the same. */
  readonly size?: number;
}

const FLAGS = {
  file: '0',
  hardlink: '1',
  symlink: '2',
  character: '3',
  block: '4',
  directory: '5',
  fifo: '6',
} as const;
const BLOCK = 512;

export function tarOf(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const data = Buffer.from(entry.data ?? '');
    const long = entry.path.length > 99 ? longName(entry.path) : [];
    return [
      ...long,
      header(entry, entry.size ?? data.length),
      data,
      Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK),
    ];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function longName(path: string): Buffer[] {
  const data = Buffer.from(`${path}\0`);
  const head = header({ path: '././@LongLink' }, data.length, 'L');
  return [head, data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)];
}

function header(entry: TarEntry, size: number, flag: string = FLAGS[entry.type ?? 'file']): Buffer {
  const block = Buffer.alloc(BLOCK);
  const mode = entry.mode ?? (entry.type === 'directory' ? 0o755 : 0o644);
  block.write(entry.path.slice(0, 99), 0, 'utf8');
  block.write(octal(mode, 7), 100);
  for (const at of [108, 116]) block.write(octal(0, 7), at);
  block.write(octal(size, 11), 124);
  block.write(octal(1_700_000_000, 11), 136);
  block.write(flag, 156);
  block.write(entry.target ?? '', 157, 99, 'utf8');
  block.write('ustar\x0000', 257, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0');
}
