/** Runs the client of a daemon outside of the sandbox: it is a program of the operator's, which needs the daemon's socket. */
import { spawn } from 'node:child_process';
import { demandSpawned } from '../../../../lib/demand-spawned.ts';
import { sendSignal } from '../../../../lib/processes.ts';
import { TerminalLines } from '../steps/output.ts';

export interface ClientEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

interface ClientCall {
  /** Program and arguments. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Then it is killed with all that it has started, and the call rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Gets every line of both outputs. */
  readonly line: (text: string) => void;
}

export async function runClient({ argv, env, signal, line }: ClientCall): Promise<ClientEnd> {
  signal.throwIfAborted();
  const [file = '', ...args] = argv;
  const child = demandSpawned(
    spawn(file, args, { cwd: '/', env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
  );
  // The docker program leaves a build to another one, which would go on with it, and hold our pipes open.
  const end = (): void => (child.pid === undefined ? undefined : sendSignal(-child.pid, 'SIGKILL'));
  signal.addEventListener('abort', end, { once: true });
  const splitters = [new TerminalLines(line), new TerminalLines(line)];
  child.stdout.on('data', (bytes: Uint8Array) => splitters[0]?.push(bytes));
  child.stderr.on('data', (bytes: Uint8Array) => splitters[1]?.push(bytes));
  try {
    const ended = await new Promise<ClientEnd>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, by) => resolve({ code, signal: by }));
    });
    signal.throwIfAborted();
    for (const splitter of splitters) splitter.end();
    return ended;
  } finally {
    signal.removeEventListener('abort', end);
  }
}
