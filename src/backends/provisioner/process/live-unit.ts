/** One unit in memory: its record, its process, and the one path by which it becomes dead. */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { UnitProcess } from '../../../domain/routes/router.ts';
import type { SeenUnit, UnitExited } from '../../../domain/units/provisioner.ts';
import { describeExit } from '../../../domain/units/unit.ts';
import { bestEffort } from '../../../lib/logger.ts';
import type { Logger } from '../../../lib/logger.ts';
import { isAlive, isTaken, sendSignal } from '../../../lib/processes.ts';
import type { Sandbox, SandboxTree } from '../../../sandbox/sandbox.ts';
import { AcceptCheck } from './accept-check.ts';
import { exitStatus } from './exit-status.ts';
import type { ExitStatus } from './exit-status.ts';
import { memoryUse } from './memory-use.ts';
import { saveRecord } from './unit-record.ts';
import type { UnitPaths, UnitRecord } from './unit-record.ts';

type Exit = Omit<UnitExited, 'id'>;

/** How long the sandbox may take to note an exit code once its init has ended. */
const NOTE_DEADLINE_MS = 500;
/** How long bubblewrap's init may take to end after the app. */
const INIT_DEADLINE_MS = 10_000;
/** How long the end of our own child may take to be reported after all of the unit is gone. */
const REPORT_DEADLINE_MS = 10_000;
const LOOPBACK = '127.0.0.1';
/** With every so many looks it is seen whether it is still the same process, and no dead one that nobody collects. */
const WHOLE_LOOKS = 8;
/** In a namespace of its own whoever is dead is collected at once, and to read what the kernel says of a process takes twenty times as long as to ask whether it is there. */
const WHOLE_LOOKS_COLLECTED = 40;
const UNKNOWN = { code: null, signal: null };

interface LiveUnitOptions {
  readonly paths: UnitPaths;
  readonly sandbox: Sandbox;
  readonly logger: Logger;
  readonly onDeath: (unit: LiveUnit) => void;
}

export class LiveUnit {
  readonly paths: UnitPaths;
  record: UnitRecord;
  accepts = new AcceptCheck();
  /** Resolves when the unit is dead and everything about its death is stored; replaced by the next start. */
  gone: Promise<Exit>;
  readonly #sandbox: Sandbox;
  readonly #logger: Logger;
  readonly #onDeath: (unit: LiveUnit) => void;
  #resolveGone: (exit: Exit) => void = () => undefined;
  #reaping: Promise<void> | null = null;
  #saved: Promise<void> = Promise.resolve();
  #isParent = false;
  #isLeft = false;
  #isStopping = false;
  #isOverMemory = false;
  #looks = 0;

  constructor(record: UnitRecord, options: LiveUnitOptions) {
    this.record = record;
    this.paths = options.paths;
    this.#sandbox = options.sandbox;
    this.#logger = options.logger;
    this.#onDeath = options.onDeath;
    this.gone = this.#newLife();
    if (record.state === 'dead') this.#resolveGone(record.exit ?? { ...UNKNOWN, outOfMemory: false });
  }

  get id(): string {
    return this.record.id;
  }

  get isDead(): boolean {
    return this.record.state === 'dead';
  }

  seen(): SeenUnit {
    const { id, app, rootPid, port, address, door, readOnly = [], exit } = this.record;
    const own = { id, app, node: hostname() };
    if (!this.isDead && rootPid > 0) {
      return {
        ...own,
        state: 'running',
        address: port === null ? null : { host: address ?? LOOPBACK, port: door ?? port },
        reason: '',
        ...(readOnly.length > 0 && { readOnly }),
      };
    }
    return { ...own, state: 'ended', address: null, reason: exit === null ? '' : describeExit(exit) };
  }

  /** Null where it runs no more, or in a network of its own. */
  get sharedProcess(): UnitProcess | null {
    const { app, rootPid: pid, rootStart: start, address = null } = this.record;
    if (this.isDead || address !== null || pid <= 0) return null;
    const uid = this.#sandbox.userOf(app);
    return { pid, start, ...(uid !== null && { uid }) };
  }

  get tree(): SandboxTree {
    const { rootPid, rootStart, id } = this.record;
    return { rootPid, rootStart, id };
  }

  /** Processes by which the unit's network can be looked at; one where that is possible, for to find all of them takes long. */
  async networkPids(): Promise<readonly number[]> {
    return this.#mainLives() ? [this.record.mainPid] : this.#sandbox.pids(this.tree);
  }

  /** Before a new start of a dead unit; what is still noted of its death is not the new life's. */
  async revive(): Promise<void> {
    await this.#reaping?.catch(() => undefined);
    this.gone = this.#newLife();
    this.accepts = new AcceptCheck();
    this.#reaping = null;
    this.#isParent = false;
    this.#isStopping = false;
    this.#isOverMemory = false;
  }

  /** Visible at once; on disk when it resolves. */
  async save(changes: Partial<UnitRecord>): Promise<void> {
    this.record = { ...this.record, ...changes };
    const before = this.#saved;
    this.#saved = before.catch(() => undefined).then(() => saveRecord(this.paths, this.record));
    await this.#saved;
  }

  /** From now on another platform process looks after the unit; resolves when nothing is under way here. */
  async leave(): Promise<void> {
    this.#isLeft = true;
    await Promise.allSettled([this.#reaping, this.#saved]);
  }

  /** The unit lives, and the end of our own child will tell of its death. */
  async live(
    life: Pick<UnitRecord, 'rootPid' | 'rootStart' | 'mainPid' | 'mainStart' | 'address' | 'door' | 'readOnly'>,
    ended: Promise<ExitStatus>,
  ): Promise<void> {
    // Whoever waits for its end has been answered already.
    if (this.isDead) throw new Error('The unit was ended while it started.');
    this.#isParent = true;
    await this.save({ ...life, state: 'running' });
    void ended.then((status) => {
      this.#isParent = false;
      void bestEffort(this.#logger, 'clearing up after a dead unit', async () => {
        // A wrapper may be killed without the unit; then polling takes over.
        if (!this.#isLeft && !this.#mainLives()) await this.reap(status);
      });
    });
  }

  /** The start failed: dead, and no exit is reported. */
  async neverLived(): Promise<void> {
    const exit = { ...UNKNOWN, outOfMemory: false };
    try {
      await this.save({ state: 'dead', isReported: true, exit });
    } finally {
      this.#resolveGone(exit);
    }
  }

  /** One of an earlier process of the platform: dead where its start was interrupted, or the machine has been started since. */
  async find(): Promise<void> {
    if (this.record.state !== 'starting' && this.record.rootPid !== 0) await this.check();
    else if (!this.isDead) await this.reap(null);
  }

  /** Called every now and then: notices the death of a unit that is nobody's child any more, and too much memory. */
  async check(): Promise<void> {
    if (this.record.state !== 'running' || this.#reaping !== null) return;
    if (!this.#isParent && !this.#mainLives()) await this.reap(null);
  }

  /** False: it is to be looked at more closely. Asked again and again of each unit, so it costs next to nothing. */
  seemsWell(): boolean {
    if (this.record.state !== 'running' || this.#reaping !== null || this.#isParent) return true;
    this.#looks += 1;
    const every = this.#sandbox.level === 'bubblewrap' ? WHOLE_LOOKS_COLLECTED : WHOLE_LOOKS;
    return this.#looks % every !== 0 && this.record.mainPid > 0 && isTaken(this.record.mainPid);
  }

  async checkMemory(): Promise<void> {
    const { state, memoryBytes } = this.record;
    if (state !== 'running' || memoryBytes === 0 || this.#reaping !== null) return;
    if (memoryUse(await this.#sandbox.pids(this.tree)) <= memoryBytes) return;
    this.#isOverMemory = true;
    await this.#sandbox.kill(this.tree, 'SIGKILL');
  }

  /** Signals the app; then, when it is gone but left others behind, those; then kills. */
  async stop(graceMs: number): Promise<void> {
    if (this.isDead) return;
    this.#isStopping = true;
    const deadline = performance.now() + graceMs;
    const { mainPid, mainStart, isSimple } = this.record;
    const toMainOnly = isSimple && isAlive(mainPid, mainStart);
    if (toMainOnly) sendSignal(mainPid, 'SIGTERM');
    else await this.#sandbox.kill(this.tree, 'SIGTERM');
    let areOthersSignalled = !toMainOnly;
    for (let pause = 5; performance.now() < deadline; pause = Math.min(pause * 1.5, 50)) {
      if (!(await this.#sandbox.alive(this.tree))) break;
      if (!areOthersSignalled && !this.#mainLives()) {
        areOthersSignalled = true;
        await this.#sandbox.kill(this.tree, 'SIGTERM');
      }
      await delay(Math.min(pause, Math.max(deadline - performance.now(), 1)));
    }
    try {
      await this.#sandbox.kill(this.tree, 'SIGKILL');
    } catch (error) {
      this.#isStopping = false;
      throw error;
    }
    if (!this.#isParent) await this.reap(null);
    const reportBy = performance.now() + REPORT_DEADLINE_MS;
    // The timer also keeps this process alive: nothing else of a unit does.
    while (!this.isDead) {
      await Promise.race([this.gone, delay(20)]);
      if (!this.isDead && performance.now() > reportBy) await this.reap(null);
    }
    await this.gone;
  }

  /** The one way to become dead; further calls wait for the first. `seen`: what the parent saw, null for others. */
  async reap(seen: ExitStatus | null): Promise<void> {
    this.#reaping ??= this.#reap(seen).catch((error: unknown) => {
      // The next look at the unit tries again.
      this.#reaping = null;
      throw error;
    });
    await this.#reaping;
  }

  async #reap(seen: ExitStatus | null): Promise<void> {
    // The app's death ends the unit; only stop() gives what the app left behind time to end by itself.
    while (this.#isStopping && (await this.#sandbox.alive(this.tree))) await delay(5);
    const noted = seen ?? { code: await this.#notedCode(), signal: null };
    await this.#sandbox.kill(this.tree, 'SIGKILL');
    const isKernelKill = await this.#sandbox.outOfMemory(this.id);
    const outOfMemory = this.#isOverMemory || (isKernelKill && !this.#isStopping);
    const exit = { ...exitStatus(noted.code, noted.signal), outOfMemory };
    await this.#sandbox.release(this.id);
    try {
      await this.save({ state: 'dead', exit, isReported: false });
    } finally {
      // Also where the disk is full: it is dead, and what is on disk is found out anew by the next start of the platform.
      this.#resolveGone(exit);
      this.#onDeath(this);
    }
  }

  /** What bubblewrap notes once its init has ended, which on a busy machine is a while after the app. */
  async #notedCode(): Promise<number | null> {
    const { rootPid, rootStart, state } = this.record;
    if (this.#sandbox.level !== 'bubblewrap' || rootPid === 0) return null;
    const isSameBoot = state === 'running';
    const initBy = performance.now() + INIT_DEADLINE_MS;
    let noteBy: number | null = null;
    for (;;) {
      const code = await this.#sandbox.exitCode(this.id);
      if (code !== null || !isSameBoot) return code;
      if (!isAlive(rootPid, rootStart) || performance.now() >= initBy) noteBy ??= performance.now() + NOTE_DEADLINE_MS;
      if (noteBy !== null && performance.now() >= noteBy) return null;
      await delay(5);
    }
  }

  #mainLives(): boolean {
    return isAlive(this.record.mainPid, this.record.mainStart);
  }

  #newLife(): Promise<Exit> {
    return new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }
}
