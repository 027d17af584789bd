/** The ports of control's own doors, which outlive it where apps share the network of the machine: no app is to listen there in its place. */
import { closeSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
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

  /** From now on they are kept when this process ends, in whatever way. False: this machine lacks what it takes. */
  async hold(doors: Readonly<Record<string, Place & { readonly descriptor: number }>>): Promise<boolean> {
    this.#held = Object.entries(doors).map(([door, place]) => ({
      label: labelOf(door, place),
      descriptor: place.descriptor,
    }));
    const holder = await readPidFile(this.#pidFile);
    const isThere = holder !== null && (await isRunning(holder));
    if (!this.#isSame || this.#reclaimed === null || !isThere) return this.#start();
    this.#watch(new Socket({ fd: this.#reclaimed.link, readable: true, writable: false }));
    return true;
  }

  /** Whoever keeps them has them alone. */
  leave(): void {
    this.#isOver = true;
    this.#link?.destroy();
  }

  /** They are anybody's once this process has closed them. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#endHolder();
    await rm(holderSocket(this.#home), { force: true });
    this.#link?.destroy();
  }

  get #pidFile(): string {
    return join(this.#home, 'run', 'ports.pid');
  }

  async #start(): Promise<boolean> {
    const errors = await open(join(this.#home, 'run', 'ports.log'), 'w', 0o600);
    try {
      const places = { socket: holderSocket(this.#home), control: join(this.#home, 'run', 'control.pid') };
      const child = startHolder(this.#held, places, errors.fd);
      if (child === null) return false;
      const isUp = await new Promise<boolean>((resolve) => {
        child.once('error', () => resolve(false));
        child.once('exit', () => resolve(false));
        child.stdout?.once('data', () => resolve(true));
      });
      if (!isUp || child.pid === undefined) return false;
      await this.#endHolder();
      await writePidFile(this.#pidFile, child.pid);
      child.unref();
      child.stdout?.destroy();
      if (child.stdin instanceof Socket) this.#watch(child.stdin);
      return true;
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
    const isHeld = await this.#start().catch(() => false);
    if (!isHeld) this.#logger.warn({}, 'nobody keeps the ports of this server while it is away any more');
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

function labelOf(door: string, place: Place): string {
  return `${door}@${hostPort(place)}`;
}
