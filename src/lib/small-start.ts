/**
 * Starts without what makes a process larger than it need be for as long as it is idle. Loading a program runs the module loader so often that V8
 * compiles that for speed: megabytes of compilers come into memory for code that is not needed any more, and the young generation grows
 * to many times its size, which V8 seldom takes back. Afterwards both are as ever.
 */
import { setFlagsFromString } from 'node:v8';

const WHILE_STARTING = ['--no-opt', '--no-maglev', '--semi-space-growth-factor=1'];
const AFTERWARDS = ['--opt', '--maglev', '--semi-space-growth-factor=2'];

export async function startingSmall<T>(start: () => Promise<T>): Promise<T> {
  WHILE_STARTING.forEach((flag) => setFlagsFromString(flag));
  try {
    return await start();
  } finally {
    AFTERWARDS.forEach((flag) => setFlagsFromString(flag));
  }
}
