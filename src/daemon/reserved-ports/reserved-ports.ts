/** The ports of control's own doors, which outlive it where apps share the network of the machine: no app is to listen there in its place. */
import type { ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hostPort } from '../../lib/host-port.ts';
import type { Logger } from '../../lib/logger.ts';
import { isRunning, readPidFile, removePidFile, writePidFile } from '../../lib/pid-file.ts';
import { sendSignal } from '../../lib/processes.ts';
import { type HeldPort, startHolder } from './holder.ts';
import { holderSocket, type Reclaimed, takeReclaimed } from './reclaim.ts';

interface Place {
  readonly host: string;
  readonly port: number;
}

const POLL_MS = 5;
const END_MS = 10_000;
const HELD_MS = 10_000;
const AGAIN_MS = 1_000;

export class ReservedPorts {
  readonly #home: string;
  readonly #logger: Logger;
  readonly #reclaimed: Reclaimed | null;
  /** Its end is that of this control to the holder; null: there is none. */
  #link: Socket | null = null;
  #held: readonly HeldPort[] = [];
  /** What was kept is what is wanted. */
  #isSame = false;
  /** Nobody is to be started in the place of a holder that ends. */
  #isOver = false;
  /** In the place of one that has ended. */
  #starting: Promise<void> | null = null;

  /** `wanted`: by the names of their doors. Who keeps others goes on until these are had, unless it is in their way. */
  static async open(options: {
    readonly home: string;
    readonly logger: Logger;
    readonly wanted: Readonly<Record<string, Place>>;
  }): Promise<ReservedPorts> {
    const reclaimed = takeReclaimed();
    const wanted = new Map(Object.entries(options.wanted).map(([door, place]) => [labelOf(door, place), place.port]));
    const held = reclaimed?.ports ?? new Map<string, number>();
    const missing = [...wanted].filter(([label]) => !held.has(label)).map(([, port]) => port);
    const needless = [...held].filter(([label]) => !wanted.has(label));
    const isInTheWay = needless.some(([label]) => missing.some((port) => label.endsWith(`:${port}`)));
    const ports = new ReservedPorts(options.home, options.logger, reclaimed);
    ports.#isSame = reclaimed !== null && missing.length + needless.length === 0;
    if (reclaimed === null || isInTheWay) await ports.#endHolder();
    for (const [, descriptor] of needless) closeSync(descriptor);
    return ports;
  }

  private constructor(home: string, logger: Logger, reclaimed: Reclaimed | null) {
    this.#home = home;
    this.#logger = logger;
    this.#reclaimed = reclaimed;
  }

  /** By somebody, until this control was there. */
  get wereKept(): boolean {
    return this.#reclaimed !== null;
  }

  /** Of a socket that is bound there already. */
  descriptor(door: string, place: Place): number | undefined {
    return this.#reclaimed?.ports.get(labelOf(door, place));
  }

  /** From now on they are kept when this process ends, in whatever way. Throws Error that says why they are not. */
  async hold(doors: Readonly<Record<string, Place & { readonly descriptor: number }>>): Promise<void> {
    this.#held = Object.entries(doors).map(([door, place]) => ({
      label: labelOf(door, place),
      descriptor: place.descriptor,
    }));
    const holder = await readPidFile(this.#pidFile);
    const isThere = holder !== null && (await isRunning(holder));
    if (!this.#isSame || this.#reclaimed === null || !isThere) return this.#start();
    this.#watch(new Socket({ fd: this.#reclaimed.link, readable: true, writable: false }));
  }

  /** To be called before the descriptors are closed: who keeps them stays, and nobody is started in its place. */
  settle(): void {
    this.#isOver = true;
  }

  /** Whoever keeps them has them alone. */
  async leave(): Promise<void> {
    this.settle();
    await this.#starting;
    this.#link?.destroy();
  }

  /** They are anybody's once this process has closed them. */
  async end(): Promise<void> {
    this.settle();
    await this.#starting;
    await this.#endHolder();
    await rm(holderSocket(this.#home), { force: true });
    this.#link?.destroy();
  }

  get #pidFile(): string {
    return join(this.#home, 'run', 'ports.pid');
  }

  async #start(): Promise<void> {
    const log = join(this.#home, 'run', 'ports.log');
    const errors = await open(log, 'w', 0o600);
    try {
      if (this.#isOver) return;
      const places = { socket: holderSocket(this.#home), control: join(this.#home, 'run', 'control.pid') };
      const child = startHolder(this.#held, places, errors.fd);
      try {
        await held(child, log);
        await this.#endHolder();
        if (child.pid !== undefined) await writePidFile(this.#pidFile, child.pid);
      } catch (error) {
        child.kill('SIGKILL');
        throw error;
      }
      child.unref();
      child.stdout?.destroy();
      if (child.stdin instanceof Socket) this.#watch(child.stdin);
    } finally {
      await errors.close();
    }
  }

  #watch(link: Socket): void {
    this.#link = link;
    link.on('error', () => undefined);
    link.once('close', () => void this.#again());
    link.resume();
    link.unref();
  }

  /** Somebody has ended it. */
  async #again(): Promise<void> {
    if (this.#isOver) return;
    await delay(AGAIN_MS, undefined, { ref: false });
    if (this.#isOver) return;
    this.#starting = this.#start().catch((error: unknown) =>
      this.#logger.warn({ err: error }, 'nobody keeps the ports of this server while it is away any more'),
    );
  }

  async #endHolder(): Promise<void> {
    const holder = await readPidFile(this.#pidFile);
    if (holder !== null && holder.start !== '' && (await isRunning(holder))) {
      sendSignal(holder.pid, 'SIGTERM');
      const deadline = performance.now() + END_MS;
      while ((await isRunning(holder)) && performance.now() < deadline) await delay(POLL_MS);
    }
    await removePidFile(this.#pidFile);
  }
}

/** Resolves when it says so; rejects with why it does not, at the end of its time at the latest. */
async function held(child: ChildProcess, log: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('who is to keep the ports does not say that it does')), HELD_MS);
  child.once('error', reject);
  child.once('exit', () => {
    const said = (text: string): void => reject(new Error(`who is to keep the ports has ended: ${text.trim()}`));
    readFile(log, 'utf8').then(said, reject);
  });
  child.stdout?.once('data', () => resolve());
  await promise.finally(() => clearTimeout(timer));
}

function labelOf(door: string, place: Place): string {
  return `${door}@${hostPort(place)}`;
}
