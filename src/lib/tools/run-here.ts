/** Starts a tool as a child of this process. */
import { spawn } from 'node:child_process';
import { demandSpawned } from '../demand-spawned.ts';

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export interface ToolCall {
  /** Program and arguments. */
  readonly argv: readonly string[];
  readonly input: string;
  /** Then it is killed. */
  readonly timeoutMs: number;
  /** Where programs are looked for, and what they get as PATH. */
  readonly path: string;
}

export interface ToolEnd {
  /** Null: by a signal. */
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Throws when the program cannot be started. */
export async function runHere({ argv, input, timeoutMs, path }: ToolCall): Promise<ToolEnd> {
  const [file = '', ...args] = argv;
  const limits = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
  const env = { LC_ALL: 'C', PATH: path };
  const child = demandSpawned(spawn(file, args, { stdio: 'pipe', env, ...limits }));
  let output = '';
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => {
    if (output.length < MAX_OUTPUT_BYTES) output += bytes.toString();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    if (errors.length < MAX_OUTPUT_BYTES) errors += bytes.toString();
  });
  // It may end without reading.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, output, errors };
}
