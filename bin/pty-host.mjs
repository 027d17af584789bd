/**
 * Holds one pseudo-terminal on behalf of the server, in a process of its own: the native code opens it so that every process
 * started later would inherit it, and the server starts those of other apps. Standard input is what is typed, standard output
 * what is shown; over descriptor 3 go `ready <path>` from here, `taken` and `size <columns> <rows>` to here.
 */
import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { ReadStream } from 'node:tty';

/** Tells that there are no pseudo-terminals here. */
const NONE = 3;

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

const end = () => process.exit(0);
terminal.on('error', () => {
  // The other end is closed everywhere; what was read before may still be on its way out.
  process.stdout.end(end);
});
terminal.pipe(process.stdout, { end: false });
process.stdin.pipe(terminal);
for (const stream of [process.stdin, control]) stream.on('close', end).on('error', end);
process.stdout.on('error', end);

createInterface({ input: control }).on('line', (line) => {
  const [word, wide, high] = line.split(' ');
  // Until somebody else has opened it, this end keeps the terminal alive.
  if (word === 'taken') closeSync(slave);
  if (word === 'size') native.resize(master, Number(wide), Number(high));
});
control.write(`ready ${pty}\n`);
