/**
 * A program of the operator's that sets TXT records: `<program> <arguments of the setting> set|remove <record> <value>`. Never a shell. It
 * is to end when the record can be seen. What it prints, which may be a login at the DNS, is the cause of the error only.
 */
import { spawn } from 'node:child_process';
import type { DnsRecords } from '../../../domain/certificates/dns-records.ts';
import { demandSpawned } from '../../../lib/demand-spawned.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import { killGroup } from '../../../lib/processes.ts';

const COMMAND_MS = 5 * 60_000;
const MAX_OUTPUT = 2_000;
const LATE = 'it did not end in time';

interface DnsCommandOptions {
  readonly argv: readonly string[];
  /** Five minutes when absent. */
  readonly timeoutMs?: number;
}

export function createDnsCommand({ argv, timeoutMs = COMMAND_MS }: DnsCommandOptions): DnsRecords {
  const [program = '', ...given] = argv;
  const run = (what: string, record: string, value: string, signal: AbortSignal): Promise<void> =>
    withDeadline(timeoutMs, signal, (limited) => ended(program, [...given, what, record, value], limited));
  return {
    set: (record, value, signal) => run('set', record, value, signal),
    remove: (record, value, signal) => run('remove', record, value, signal),
  };
}

function ended(program: string, argv: readonly string[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(new Error(LATE));
  return new Promise((resolve, reject) => {
    // A process group of its own, so that ending it also ends what it has started itself.
    const child = demandSpawned(spawn(program, [...argv], { stdio: ['ignore', 'pipe', 'pipe'], detached: true }));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (output.length < MAX_OUTPUT) output = (output + text).slice(0, MAX_OUTPUT);
      });
    }
    const fail = (how: string): void => {
      const printed = output.trim().replace(/\s+/g, ' ');
      reject(new Error(how, printed === '' ? {} : { cause: new Error(`it printed: ${printed}`) }));
    };
    const giveUp = (): void => {
      if (child.pid !== undefined) killGroup(child.pid);
      // What goes on all the same keeps nothing here.
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      fail(LATE);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    child.once('error', (error) => {
      signal.removeEventListener('abort', giveUp);
      fail(`it cannot be started (${error.message})`);
    });
    child.once('close', (code, killedBy) => {
      signal.removeEventListener('abort', giveUp);
      if (code === 0) resolve();
      else fail(code === null ? `it was ended by ${String(killedBy)}` : `it ended with ${code}`);
    });
  });
}
