/**
 * A program of the operator's that sets TXT records: `<program> <arguments of the setting> set|remove <record> <value>`. Never a shell; what
 * it prints is reported when it fails. It is to end when the record can be seen.
 */
import { spawn } from 'node:child_process';
import type { DnsRecords } from '../../../domain/certificates/dns-records.ts';
import { demandSpawned } from '../../../lib/demand-spawned.ts';
import { withDeadline } from '../../../lib/deadline.ts';

const COMMAND_MS = 5 * 60_000;
const MAX_OUTPUT = 2_000;

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
  return new Promise((resolve, reject) => {
    const child = demandSpawned(
      spawn(program, [...argv], { stdio: ['ignore', 'pipe', 'pipe'], signal, killSignal: 'SIGKILL' }),
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (output.length < MAX_OUTPUT) output = (output + text).slice(0, MAX_OUTPUT);
      });
    }
    child.once('error', (error) => {
      reject(
        new Error(signal.aborted ? 'it did not end in time' : `it cannot be started (${error.message})`, {
          cause: error,
        }),
      );
    });
    child.once('close', (code, killedBy) => {
      if (code === 0) return resolve();
      const how = code === null ? `it was ended by ${String(killedBy)}` : `it ended with ${code}`;
      reject(new Error(output.trim() === '' ? how : `${how}: ${output.trim().replace(/\s+/g, ' ')}`));
    });
  });
}
