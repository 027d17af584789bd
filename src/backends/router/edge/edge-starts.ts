/** How there comes to be an edge process: the one that serves is adopted, or another one takes over from it, or one is started. */
import { isPlatformError, PlatformError } from '../../../domain/errors.ts';
import { Heartbeats } from '../../../lib/heartbeats.ts';
import { bestEffort } from '../../../lib/logger.ts';
import { readProcess } from '../../../lib/processes.ts';
import { EdgeConnection } from './edge-connection.ts';
import { type BoundPorts, type EdgeDoors, doorsOf, type Hello, standing } from './edge-doors.ts';
import type { EdgeRouterOptions } from './edge-options.ts';
import { leadToOwnPlaces, socketsOf } from './edge-places.ts';
import {
  boundLog,
  canStartAs,
  commandOf,
  type EdgeProgram,
  edgeFromFile,
  endEdge,
  isEdgeOf,
  pathsOf,
  removeOtherPrograms,
  spawnEdge,
} from './edge-process.ts';
import { handedBy, sameAddresses } from './handed-listeners.ts';

const START_MS = 60_000;
const POLL_MS = 10;
const CONNECT_MS = 2_000;
const HELLO_MS = 30_000;
const DEFAULT_STOP_GRACE_MS = 10_000;
const STOP_SLACK_MS = 3_000;

export interface Connected {
  readonly client: EdgeConnection;
  readonly hello: Hello;
}

interface Ensured {
  readonly connected: Connected;
  /** It was there before. */
  readonly adopted: boolean;
  /** It was, or another one that it has taken over from. */
  readonly hasServed: boolean;
}

export class EdgeStarts {
  readonly #options: EdgeRouterOptions;
  readonly #program: EdgeProgram;
  readonly #onLost: (connected: Connected) => void;

  /** `onLost` is called for every connection that ends, those that were made only to look, too. */
  constructor(options: EdgeRouterOptions, program: EdgeProgram, onLost: (connected: Connected) => void) {
    this.#options = options;
    this.#program = program;
    this.#onLost = onLost;
  }

  /**
   * Resolves once an edge of this program at these ports answers on its socket; it may have no table yet. Throws `config.invalid` when an address
   * cannot be had, `unavailable` when the edge does not come up.
   */
  async ensure(ports: BoundPorts): Promise<Ensured> {
    const found = await this.find();
    const hasServed = found !== null;
    if (hasServed && this.#fits(found.hello, ports)) return { connected: found, adopted: true, hasServed };
    return { connected: await this.#launch(found, ports), adopted: false, hasServed };
  }

  #fits(hello: Hello, ports: BoundPorts): boolean {
    const { plain, tls } = standing(doorsOf(this.#options, ports), hello);
    return hello.fingerprint === this.#program.fingerprint && plain && tls;
  }

  /** The edge that answers on the socket, whatever it is; one that hangs is killed. */
  async find(): Promise<Connected | null> {
    let connected: Connected | null = null;
    const onLost = (): void => {
      if (connected !== null) this.#onLost(connected);
    };
    const client = await EdgeConnection.connectAny(socketsOf(this.#options), CONNECT_MS, onLost);
    if (client === null) return null;
    const pid = await edgeFromFile(this.#options);
    // On a machine that has too much to do it may be long before it answers, and it serves meanwhile.
    const heartbeats = new Heartbeats({ onStuck: (stuck) => void this.endStuck(stuck) });
    if (pid !== null) heartbeats.beat(pid);
    try {
      const hello = (await client.ask('hello', {}, pid === null ? CONNECT_MS : HELLO_MS)) as Hello;
      connected = { client, hello };
      return connected;
    } catch (error) {
      client.close();
      if (isPlatformError(error, 'timeout') && pid !== null) await endEdge(pid, CONNECT_MS);
      return null;
    } finally {
      if (pid !== null) heartbeats.forget(pid);
    }
  }

  async #launch(found: Connected | null, ports: BoundPorts): Promise<Connected> {
    if (found === null) return this.#started(await this.#spawn(ports));
    const doors = doorsOf(this.#options, ports);
    const is = standing(doors, found.hello);
    // One that hands on only what it has gives way to one at the same addresses first, which then can.
    const able = (is.plain && is.tls) || found.hello.binds === true ? found : await this.#replaced(found, null, ports);
    return this.#replaced(able, doors, ports);
  }

  async #replaced(found: Connected, doors: EdgeDoors | null, ports: BoundPorts): Promise<Connected> {
    return this.#started((await this.#succeed(found, doors)) ?? (await this.#spawn(ports)));
  }

  async #started(pid: number): Promise<Connected> {
    const deadline = performance.now() + START_MS;
    // It may have another command line for a moment, or none: what has started it makes it the edge.
    while (readProcess(pid)?.zombie === false) {
      const started = await this.find();
      if (started?.hello.pid === pid && started !== null) {
        await removeOtherPrograms(this.#options, this.#program);
        await leadToOwnPlaces(this.#options);
        return started;
      }
      started?.client.close();
      if (performance.now() > deadline) {
        await endEdge(pid, CONNECT_MS);
        throw this.#notStarted(`did not answer within ${START_MS} ms of its start`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw this.#notStarted('ended at its start');
  }

  async #spawn(ports: BoundPorts): Promise<number> {
    return (await spawnEdge(this.#options, this.#program, ports)).pid ?? 0;
  }

  /**
   * Has the edge that serves start the new one with the listeners that stay, and with new ones where another address is wanted, so that
   * nobody is turned away meanwhile; without `doors` at the addresses it has. Null when it cannot be done: a new address cannot be had
   * beside its own, it is too old to know how, or it is a user that cannot become the one that is wanted. It is ended then. Throws `config.invalid` when an address is another program's.
   */
  async #succeed({ client, hello }: Connected, doors: EdgeDoors | null): Promise<number | null> {
    try {
      const isAble = canStartAs(this.#options, hello.pid);
      const handed = doors === null ? sameAddresses(hello) : await handedBy(hello, doors);
      if (handed !== null && isAble) {
        await boundLog(pathsOf(this.#options).log);
        const { host, tls, ports } = handed;
        const options = { ...this.#options, listen: { ...this.#options.listen, host }, tls };
        const program = commandOf(options, this.#program, { ports, starter: hello.pid });
        const request = { program, listeners: handed.listeners };
        return ((await client.ask('succeed', request, START_MS)) as { pid: number }).pid;
      }
    } catch (error) {
      if (isPlatformError(error, 'config.invalid')) throw error;
      this.#options.logger.warn({ err: error }, 'the edge cannot be taken over from and is ended first');
    } finally {
      client.close();
    }
    await endEdge(hello.pid, graceMsOf(this.#options));
    return null;
  }

  /** It would hold up every change of the routes; what it serves hangs as well. */
  async endStuck(pid: number): Promise<void> {
    this.#options.logger.error({ pid }, 'the edge does not answer any more and is ended');
    await bestEffort(this.#options.logger, 'ending the edge', async () => {
      if (await isEdgeOf(this.#options, pid)) process.kill(pid, 'SIGKILL');
    });
  }

  #notStarted(what: string): PlatformError {
    return new PlatformError('unavailable', `The edge ${what}.`, {
      hint: `${pathsOf(this.#options).log} says why.`,
    });
  }
}

/** How long it may take to end, with what it has in flight. */
export function graceMsOf({ stopGraceMs = DEFAULT_STOP_GRACE_MS }: Pick<EdgeRouterOptions, 'stopGraceMs'>): number {
  return stopGraceMs + STOP_SLACK_MS;
}
