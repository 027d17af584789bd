/**
 * Runs one of the system's tools to its end. To start a program the kernel copies the tables of all memory of who starts it, milliseconds for a
 * large process, in which nothing else happens in it. So where many are run at one time, a small process beside this one starts them.
 */
import { runHere, type ToolCall, type ToolEnd } from './run-here.ts';
import type { ToolHost } from './tool-host.ts';

const DEADLINE_MS = 60_000;
/** More than one unit that starts has at a time. */
const MANY = 8;

let running = 0;
let host: ToolHost | null = null;

/** What it printed. Throws with what it wrote as its error when it fails, or when it takes longer than a minute. */
export async function runTool(argv: readonly string[], input = '', timeoutMs = DEADLINE_MS): Promise<string> {
  running += 1;
  try {
    const { code, output, errors } = await run({ argv, input, timeoutMs, path: process.env['PATH'] ?? '' });
    if (code === 0) return output;
    throw new Error(`${argv.join(' ')} failed: ${errors.trim().slice(0, 500) || `code ${code}`}`);
  } finally {
    running -= 1;
  }
}

async function run(call: ToolCall): Promise<ToolEnd> {
  if (running <= MANY && host?.isUp !== true) return runHere(call);
  if (host === null) {
    const { ToolHost: Host } = await import('./tool-host.ts');
    host ??= new Host();
  }
  return host.run(call);
}
