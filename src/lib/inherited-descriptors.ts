/** Keeps from what this process starts what whoever started it has left open: files, sockets and pipes of a shell or a supervisor. */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const DESCRIPTORS = '/proc/self/fd';
/** Of Linux on x64 and arm64. What Node opens itself has this flag, and so have the first descriptors it was started with: children do not get those. */
const CLOSE_ON_EXEC = 0o2000000;

/** To be called first of all, and by nobody who was given descriptors on purpose. */
export function closeInherited(): void {
  if (process.platform !== 'linux' || process.channel !== undefined) return;
  for (const descriptor of readdirSync(DESCRIPTORS).map(Number)) {
    if (descriptor > 2 && isInheritable(descriptor)) closeSync(descriptor);
  }
}

/** False for one that is not open any more. */
function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
