/**
 * Holds one pseudo-terminal on behalf of the server, in a process of its own: the native code opens it so that every process
 * started later would inherit it, and the server starts those of other apps. Standard input is what is typed, standard output
 * what is shown; over descriptor 3 go `ready <path>` from here, `size <columns> <rows>` and `over` to here.
 */
import { closeSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';

/** Tells that there are no pseudo-terminals here. */
const NONE = 3;
const PIECE_BYTES = 4_096;

function load() {
  try {
    return createRequire(import.meta.url)('@lydell/node-pty/requireBinary.js').requireBinary('pty.node');
  } catch {
    process.exit(NONE);
  }
}

const [columns = '80', rows = '24'] = process.argv.slice(2);
const native = load();
const { master, slave, pty } = native.open(Number(columns), Number(rows));
const terminal = new ReadStream(master);
const control = new Socket({ fd: 3 });

let isOver = false;
const exit = () => process.exit(0);
const end = () => void (isOver || exit());
// The programs' end is held open here too: a terminal that is closed there would end the stream before all of it was read.
terminal.pipe(process.stdout, { end: false });
process.stdin.pipe(terminal);
for (const stream of [terminal, process.stdin, control]) stream.on('close', end).on('error', end);
process.stdout.on('error', exit);

/** The programs are gone: what is left of their output, then the end. */
function finish() {
  isOver = true;
  terminal.unpipe(process.stdout);
  for (let piece = terminal.read(); piece !== null; piece = terminal.read()) process.stdout.write(piece);
  closeSync(slave);
  try {
    for (;;) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const length = readSync(master, piece);
      if (length === 0) break;
      process.stdout.write(piece.subarray(0, length));
    }
  } catch {
    // Nothing is left, which the system tells by an error.
  }
  process.stdout.end(exit);
}

createInterface({ input: control }).on('line', (line) => {
  const [word, wide, high] = line.split(' ');
  if (word === 'over') finish();
  if (word === 'size') native.resize(master, Number(wide), Number(high));
});
control.write(`ready ${pty}\n`);
