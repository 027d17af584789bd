/**
 * Pseudo-terminals of this machine, each held by a process of its own (bin/pty-host.mjs). They come with an optional package
 * of native code: where that could not be installed there is none, and shells have pipes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import type { Duplex, Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { demandSpawned } from '../../../lib/demand-spawned.ts';
import type { TerminalSize } from '../../../domain/units/provisioner.ts';

export interface OpenTerminal {
  /** What is typed. */
  readonly input: Writable;
  /** What is shown. */
  readonly output: Readable;
  /** The programs' end, to be handed to them. */
  readonly theirs: number;
  /** To be called when the programs have their end. */
  taken(): void;
  /** To be called when the programs are gone. */
  over(): void;
  resize(size: TerminalSize): void;
  /** Resolves when it is over, and all was read. */
  readonly closed: Promise<void>;
  close(): void;
}

const HOST = fileURLToPath(new URL('../../../../bin/pty-host.mjs', import.meta.url));
const START_MS = 60_000;
const MAX_ANSWER = 200;

/** Null where there are no pseudo-terminals. */
export async function openTerminal(size: TerminalSize): Promise<OpenTerminal | null> {
  const child = demandSpawned(
    spawn(process.execPath, [HOST, `${size.columns}`, `${size.rows}`], {
      env: {},
      cwd: '/',
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    }),
  );
  const [input, output, , control] = child.stdio as unknown as [Writable, Readable, null, Duplex];
  // All of them end with the process, whose end is noticed by itself: their own errors say no more.
  for (const stream of [input, output, control]) stream.on('error', () => {});
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const place = await answerOf(child, control);
  if (place === null) {
    child.kill('SIGKILL');
    return null;
  }
  const theirs = openEnd(place, child);
  let isOpen = true;
  const taken = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(theirs);
  };
  return {
    input,
    output,
    theirs,
    taken,
    over: () => void (control.writable && control.write('over\n')),
    resize: ({ columns, rows }) => void (control.writable && control.write(`size ${columns} ${rows}\n`)),
    closed,
    close() {
      taken();
      child.kill('SIGKILL');
    },
  };
}

function openEnd(place: string, holder: ChildProcess): number {
  try {
    return openSync(place, constants.O_RDWR | constants.O_NOCTTY);
  } catch (error) {
    holder.kill('SIGKILL');
    throw error;
  }
}

/** The path of the terminal; null when there is none. */
function answerOf(child: ChildProcess, control: Duplex): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    const timer = setTimeout(() => resolve(null), START_MS);
    const done = (place: string | null): void => {
      clearTimeout(timer);
      resolve(place);
    };
    child.once('error', () => done(null));
    child.once('close', () => done(null));
    control.setEncoding('latin1').on('data', (piece: string) => {
      text = (text + piece).slice(0, MAX_ANSWER);
      const place = /^ready (\/dev\/pts\/\d+)\n/.exec(text)?.[1];
      if (place !== undefined) done(place);
    });
  });
}
