/**
 * Has the keeper started when control ends. How it is started is kept on disk: so there is somebody to stand in for a control from its first moment
 * on, before it knows itself.
 */
import { access, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, readPidFile } from '../../../lib/pid-file.ts';
import { type UponEnd, uponEnd } from '../../../lib/upon-end.ts';

const AGAIN_MS = 1_000;

export class KeeperWaiter {
  readonly #stateDir: string;
  #waiting: UponEnd | null = null;
  #isCancelled = false;

  private constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Both directories are the edge's. Where none runs there is nothing to look after yet. */
  static async open({ stateDir, runDir }: { stateDir: string; runDir: string }): Promise<KeeperWaiter> {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const waiter = new KeeperWaiter(stateDir);
    const edge = await readPidFile(join(runDir, 'edge.pid'));
    const command = edge !== null && (await isRunning(edge)) ? await waiter.#known() : null;
    if (command !== null) await waiter.#begin(command);
    return waiter;
  }

  /** In place of what was to be started before. False: this machine has nobody who could wait. */
  async wait(command: readonly string[]): Promise<boolean> {
    const draft = `${this.#file}.new`;
    await writeFile(draft, JSON.stringify(command), { mode: 0o600 });
    await rename(draft, this.#file);
    return this.#begin(command);
  }

  /** Nobody is to stand in for control. */
  async cancel(): Promise<void> {
    await rm(this.#file, { force: true });
    this.#isCancelled = true;
    this.#waiting?.cancel();
    this.#waiting = null;
  }

  get #file(): string {
    return join(this.#stateDir, 'keeper.json');
  }

  /** Null: of no control before, or its program is not there any more. */
  async #known(): Promise<readonly string[] | null> {
    try {
      const known: unknown = JSON.parse(await readFile(this.#file, 'utf8'));
      if (!Array.isArray(known) || !known.every((word) => typeof word === 'string')) return null;
      await access(known[1] ?? '');
      return known;
    } catch {
      return null;
    }
  }

  /** Somebody may have ended it. */
  async #lost(waiting: UponEnd, command: readonly string[]): Promise<void> {
    if (this.#waiting !== waiting) return;
    this.#waiting = null;
    await delay(AGAIN_MS, undefined, { ref: false });
    if (this.#waiting === null && !this.#isCancelled) await this.#begin(command).catch(() => false);
  }

  async #begin(command: readonly string[]): Promise<boolean> {
    const log = await open(join(this.#stateDir, 'edge.log'), 'a', 0o600);
    try {
      const before = this.#waiting;
      const waiting = await uponEnd(command, log.fd);
      this.#waiting = waiting;
      before?.cancel();
      void waiting?.over.then(() => this.#lost(waiting, command));
      return waiting !== null;
    } finally {
      await log.close();
    }
  }
}
