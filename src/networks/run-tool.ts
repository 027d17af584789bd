/** Runs one of the system's network tools to its end. */
import { spawn } from 'node:child_process';

const DEADLINE_MS = 60_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** What it printed. Throws with what it wrote as its error when it fails, or when it takes longer than a minute. */
export async function runTool(argv: readonly string[], input = ''): Promise<string> {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, { stdio: 'pipe', env: { LC_ALL: 'C' }, timeout: DEADLINE_MS, killSignal: 'SIGKILL' });
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
  if (code === 0) return output;
  throw new Error(`${argv.join(' ')} failed: ${errors.trim().slice(0, 500) || `code ${code}`}`);
}
