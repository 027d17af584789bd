/**
 * Has a program started when this process ends, whatever ends it: a process of a megabyte or two waits at the other end of a pipe, which the
 * kernel closes with this one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { findProgram } from './find-program.ts';

export interface UponEnd {
  /** Nothing is started any more. */
  cancel(): void;
  /** Resolves when nobody waits any more: it was cancelled, or somebody has ended the process that waits. */
  readonly over: Promise<void>;
}

/** It reads to the end, and then starts what it was given, with the words that it has read behind it. */
const WAITER = 'xargs';
/** Of some such programs nothing is started without a word. */
const WORD = 'upon-end\n';

/**
 * `command`: absolute path and arguments; one word is added. `output`: a descriptor for what it prints, and for what is wrong. Null: this machine lacks
 * what it takes.
 */
export async function uponEnd(command: readonly string[], output: number): Promise<UponEnd | null> {
  const waiter = findProgram(WAITER);
  if (waiter === null) return null;
  const child = spawn(waiter, [...command], { detached: true, cwd: '/', env: {}, stdio: ['pipe', output, output] });
  child.unref();
  const begun = once(child, 'spawn').then(
    () => true,
    () => false,
  );
  const over = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const { stdin } = child;
  // It may be ended by somebody else.
  stdin?.on('error', () => {});
  stdin?.write(WORD);
  if (stdin instanceof Socket) stdin.unref();
  return (await begun) ? { cancel: () => void child.kill('SIGKILL'), over } : null;
}
