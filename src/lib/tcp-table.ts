/**
 * Reads a table of the kernel's TCP sockets in parts of whole rows. Connections that were closed stand in it for a minute, up to a hundred
 * thousand of them, and any app can have as many: read and parsed in one go they hold up whatever else this process does.
 */
import { open } from 'node:fs/promises';

const PART_BYTES = 16 * 1024;

export async function* tcpTable(path: string): AsyncGenerator<string> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    // A kernel without IPv6 has no such table.
    if (path.endsWith('/tcp6') && error.code === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return;
  try {
    const buffer = Buffer.allocUnsafe(PART_BYTES);
    let begun = '';
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, PART_BYTES, null);
      if (bytesRead === 0) break;
      const text = begun + buffer.toString('latin1', 0, bytesRead);
      const end = text.lastIndexOf('\n') + 1;
      begun = text.slice(end);
      yield text.slice(0, end);
    }
  } finally {
    await file.close();
  }
}
