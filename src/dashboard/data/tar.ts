/** A tar archive of files that somebody has dropped onto the page, made in the browser. */

export interface DroppedFile {
  /** Below the folder that was dropped, with forward slashes. */
  readonly path: string;
  readonly file: Blob;
}

/** What no app is deployed with: it is made anew by the build, or concerns nobody but its owner. */
const LEFT_OUT = new Set(['.git', 'node_modules', '.venv', 'venv', '__pycache__', '.DS_Store', '.idea', '.vscode']);
const BLOCK = 512;

export function isLeftOut(path: string): boolean {
  return path.split('/').some((part) => LEFT_OUT.has(part));
}

/** Gzipped. */
export async function archiveOf(files: readonly DroppedFile[]): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (const { path, file } of files) {
    const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    // Browsers do not say which files can be executed; scripts do.
    const mode = start[0] === 0x23 && start[1] === 0x21 ? 0o755 : 0o644;
    parts.push(...headers(path, file.size, mode), file, new Uint8Array(padding(file.size)));
  }
  parts.push(new Uint8Array(2 * BLOCK));
  const packed = new Blob(parts).stream().pipeThrough(new CompressionStream('gzip'));
  return new Response(packed).blob();
}

/** Names of any length and in any script go into a record of their own (POSIX pax) before the file's. */
function headers(path: string, size: number, mode: number): Uint8Array<ArrayBuffer>[] {
  const name = new TextEncoder().encode(path);
  const isPlain = name.length <= 100 && name.length === path.length;
  if (isPlain) return [header(name, size, mode, '0')];
  const record = new TextEncoder().encode(paxRecord('path', path));
  const padded = new Uint8Array(record.length + padding(record.length));
  padded.set(record);
  return [
    header(new TextEncoder().encode('pax'), record.length, 0o644, 'x'),
    padded,
    header(name.slice(0, 100), size, mode, '0'),
  ];
}

function header(name: Uint8Array, size: number, mode: number, type: string): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const write = (at: number, text: string): void => block.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;
  block.set(name, 0);
  write(100, octal(mode, 7));
  write(108, octal(0, 7));
  write(116, octal(0, 7));
  write(124, octal(size, 11));
  write(136, octal(0, 11));
  write(148, '        ');
  write(156, type);
  write(257, 'ustar\u000000');
  const sum = block.reduce((total, byte) => total + byte, 0);
  write(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** `<length of all of this> path=<value>\n`. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = new TextEncoder().encode(rest).length;
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length = bytes + String(length).length;
  return `${length}${rest}`;
}

function padding(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}
