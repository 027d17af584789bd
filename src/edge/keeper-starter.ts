import { spawn } from 'node:child_process';
import type { EdgeLog } from './edge-log.ts';

/** How long nobody may be connected to the control socket: control changes its connection within it. */
const ALONE_MS = 250;
const LONGEST_RETRY_MS = 10_000;
/** Whoever made the keeper give way will connect within it, or has gone again. */
const GIVEN_WAY_MS = 2_000;

/**
 * Starts the keeper when nobody is connected to the control socket and control has gone: somebody has to look after the units, and
 * after this process. The keeper connects, and ends when control is back. A control that is alive is only late, and on a machine that has too
 * much to do one more process would make it later.
 */
export class KeeperStarter {
  readonly #args: readonly string[];
  readonly #isControlThere: () => Promise<boolean>;
  readonly #log: EdgeLog;
  #timer: NodeJS.Timeout | null = null;
  #isRunning = false;
  #isAlone = false;
  #isClosed = false;

  /** `args`: of Node. */
  constructor(args: readonly string[], isControlThere: () => Promise<boolean>, log: EdgeLog) {
    this.#args = args;
    this.#isControlThere = isControlThere;
    this.#log = log;
  }

  /** To be told whenever it changes whether anybody is connected. */
  connected(isAnybody: boolean): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isAlone = !isAnybody && !this.#isClosed;
    if (this.#isAlone) this.#startAfter(ALONE_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.connected(true);
  }

  #startAfter(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#startUnlessControlIsThere(delayMs);
    }, delayMs);
  }

  async #startUnlessControlIsThere(delayMs: number): Promise<void> {
    // Where that cannot be found out, the keeper looks for itself.
    const isThere = await this.#isControlThere().catch(() => false);
    if (!this.#isAlone || this.#timer !== null) return;
    if (isThere) this.#startAfter(ALONE_MS);
    else this.#start(delayMs);
  }

  #start(delayMs: number): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const child = spawn(process.execPath, [...this.#args], {
      detached: true,
      env: {},
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.unref();
    const over = (how: string): void => {
      if (!this.#isRunning) return;
      this.#isRunning = false;
      if (!this.#isAlone) return;
      // 0: control is back, and will connect soon; or it was somebody who only needed the databases for a moment.
      if (how !== '0') this.#log.line(`the keeper has ended (${how})`);
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#startAfter(how === '0' ? GIVEN_WAY_MS : Math.min(delayMs * 2, LONGEST_RETRY_MS));
    };
    child.once('error', (error) => over(error.message));
    child.once('exit', (code, signal) => over(String(code ?? signal)));
  }
}
