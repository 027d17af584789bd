/** Programs of a cluster, each with a log of its own; they end with this process, whatever ends it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { findProgram } from '../../src/lib/find-program.ts';
import { until } from '../support/until.ts';

const STOP_MS = 20_000;
const READY_MS = 180_000;

interface Start {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export class Parts {
  readonly #directory: string;
  readonly #running = new Map<string, ChildProcess>();
  readonly #started = new Map<string, Start>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  logOf(name: string): string {
    return path.join(this.#directory, `${name}.log`);
  }

  start(name: string, argv: readonly string[], env: Start['env'] = {}): void {
    this.#started.set(name, { argv, env });
    const setpriv = findProgram('setpriv') ?? '/usr/bin/setpriv';
    const log = openSync(this.logOf(name), 'a');
    const child = spawn(setpriv, ['--pdeathsig', 'KILL', '--', ...argv], {
      // Servers write what they find to the folder where they are.
      cwd: this.#directory,
      env: { ...process.env, ...env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#running.set(name, child);
  }

  /** One that has been stopped, as it was started. */
  startAgain(name: string): void {
    const { argv = [], env = {} } = this.#started.get(name) ?? {};
    this.start(name, argv, env);
  }

  pidOf(name: string): number {
    return this.#running.get(name)?.pid ?? 0;
  }

  /** As soon as `isReady`; throws with the end of its log when it ends before, or takes too long. */
  async ready(name: string, isReady: () => Promise<boolean>): Promise<void> {
    const tail = (): string => readFileSync(this.logOf(name), 'utf8').slice(-3_000);
    const child = this.#running.get(name);
    await until(
      async () => {
        if (child?.exitCode !== null || child.signalCode !== null) throw new Error(`${name} has ended:\n${tail()}`);
        return isReady().catch(() => false);
      },
      { what: `${name} to be ready`, timeoutMs: READY_MS, everyMs: 100, detail: tail },
    );
  }

  /** The last first. */
  async stopAll(): Promise<void> {
    for (const name of [...this.#started.keys()].reverse()) await this.stop(name);
  }

  async stop(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#running.get(name);
    this.#running.delete(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(late);
  }
}
