/** Programs that cannot be started for want of descriptors. */
import type { ChildProcess } from 'node:child_process';

/**
 * The child that spawn() has just returned. Throws Error `EMFILE` where this process, or the machine, has as many files open as it may: Node
 * returns a child without its streams then, and its error, which nobody heeds when the first use of them throws, would end this process. Every
 * other error is thrown by spawn() itself, or comes as the child's `error` in a later turn.
 */
export function demandSpawned<Child extends ChildProcess>(child: Child): Child {
  if ((child.stdio as Child['stdio'] | undefined) !== undefined) return child;
  child.on('error', () => undefined);
  // It has none of its own, and what the options `timeout` and `signal` hold would stay.
  child.emit('exit', null, null);
  const message = `${child.spawnfile} cannot be started, for too many files are open`;
  throw Object.assign(new Error(message), { code: 'EMFILE' });
}
