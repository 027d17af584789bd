/**
 * Pseudo-terminals of this machine. They come with an optional package of native code: where that could not be installed
 * there is none, and shells have pipes.
 */
import { closeSync, constants, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import type { TerminalSize } from '../../../domain/apps/provisioner.ts';

export interface OpenTerminal {
  /** Our end; what is read from it is what programs print. */
  readonly ours: Duplex;
  /** The programs' end, to be handed to them; ours to close. */
  readonly theirs: number;
  closeTheirs(): void;
  resize(size: TerminalSize): void;
  /** Resolves when the other end is closed everywhere, and all was read. */
  readonly closed: Promise<void>;
}

/** The part of the package that is used. */
interface PtyPackage {
  open(options: { cols: number; rows: number; encoding: null }): PtyPair;
}

interface PtyPair {
  readonly master: Duplex;
  readonly slave: Duplex;
  readonly ptsName: string;
  resize(columns: number, rows: number): void;
}

/** Not written out in the import, so that the program can be checked and built without it. */
const PACKAGE = '@lydell/node-pty';

/** Null where there are no pseudo-terminals. */
export async function openTerminal(size: TerminalSize): Promise<OpenTerminal | null> {
  let pair: PtyPair;
  let theirs: number;
  try {
    const loaded = (await import(PACKAGE)) as PtyPackage & { readonly default?: PtyPackage };
    pair = (loaded.default ?? loaded).open({ cols: size.columns, rows: size.rows, encoding: null });
    // Programs get a descriptor of their own. The package would read from its end of their side: what is typed would be lost.
    theirs = openSync(pair.ptsName, constants.O_RDWR | constants.O_NOCTTY);
    pair.slave.destroy();
  } catch {
    return null;
  }
  let isOpen = true;
  const closed = new Promise<void>((resolve) => pair.master.once('close', () => resolve()));
  // Reading fails once nobody has the other end any more; the stream then closes.
  pair.master.on('error', () => {});
  return {
    ours: pair.master,
    theirs,
    closeTheirs() {
      if (isOpen) closeSync(theirs);
      isOpen = false;
    },
    resize({ columns, rows }) {
      if (!pair.master.destroyed) pair.resize(columns, rows);
    },
    closed,
  };
}
