/**
 * Follows any of several servers over the network: a websocket to its API, over which it asks what a server asks the edge of its own machine. While none
 * answers the edge serves by what it knows.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { checkRequest } from '../control/operations.ts';
import type { EdgeLog } from '../edge-log.ts';
import type { FollowOptions } from './options.ts';
import { type RequestHandler, Translated } from './translated.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
const CONNECT_MS = 5_000;
/** A server asks for a sign of life three times as often. */
const SILENCE_MS = 5_000;
const LEFT = 1000;
/** Of those that are free for use: servers take it for a connection that was lost. */
const PAUSED = 4000;
const LEAVE_MS = 2_000;

interface FollowerParts {
  readonly options: FollowOptions;
  readonly token: string;
  /** Of this edge's home. */
  readonly instance: string;
  readonly answer: RequestHandler;
  readonly log: EdgeLog;
}

export class Follower {
  /** Resolves when each server has been tried, and none could be followed. */
  readonly tried: Promise<void>;
  readonly #parts: FollowerParts;
  #leaving = new AbortController();
  #socket: WebSocket | null = null;
  #following: Promise<void> = Promise.resolve();
  /** Why nobody could be followed, so that it is said once. */
  #lastProblem = '';
  #resolveTried: () => void = () => {};

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.tried = new Promise((resolve) => {
      this.#resolveTried = resolve;
    });
  }

  start(): void {
    this.#leaving = new AbortController();
    this.#following = this.#follow(this.#leaving.signal);
  }

  /** Reports to the server that nothing is served here any more; it waits for this edge no longer. */
  leave(): Promise<void> {
    return this.#end(LEFT, 'the edge has ended');
  }

  /** Until it is started again, here or by an edge of the same home: the server waits for that. */
  pause(): Promise<void> {
    return this.#end(PAUSED, 'another edge takes over');
  }

  async #end(code: number, reason: string): Promise<void> {
    this.#leaving.abort();
    this.#socket?.close(code, reason);
    await Promise.race([this.#following, delay(LEAVE_MS, undefined, { ref: false })]);
  }

  async #follow(leaving: AbortSignal): Promise<void> {
    const { servers } = this.#parts.options;
    let pauseMs = FIRST_PAUSE_MS;
    let failures = 0;
    // Not all edges go to the same one.
    for (let turn = Math.floor(Math.random() * servers.length); !leaving.aborted; turn++) {
      const server = servers[turn % servers.length] ?? '';
      if (await this.#followOne(server)) pauseMs = FIRST_PAUSE_MS;
      else {
        failures += 1;
        if (failures >= servers.length) this.#resolveTried();
        if (turn % servers.length === 0) pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      const pause = pauseMs / 2 + Math.random() * (pauseMs / 2);
      await delay(pause, undefined, { signal: leaving, ref: false }).catch(() => undefined);
    }
  }

  /** Resolves when the connection has ended; true: it was one. */
  #followOne(server: string): Promise<boolean> {
    const { options, token, instance, answer, log } = this.#parts;
    const url = new URL('edges/follow', server.endsWith('/') ? server : `${server}/`);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.search = new URLSearchParams({ name: options.name, instance, program: options.program }).toString();
    const socket = new WebSocket(url, { headers: { authorization: `bearer ${token}` } });
    this.#socket = socket;
    const translated = new Translated(answer);
    return new Promise((resolve) => {
      let [isOpen, isOver] = [false, false];
      let problem = '';
      // One that a network has swallowed is ended here at once, and by its peer whenever that notices.
      const end = (why: string): void => {
        clearTimeout(timer);
        if (isOver) return;
        isOver = true;
        if (isOpen) log.line(`follows ${server} no more: ${why}`);
        else if (why !== this.#lastProblem) log.line(`${server} cannot be followed: ${why}`);
        this.#lastProblem = isOpen ? '' : why;
        resolve(isOpen);
        socket.close();
      };
      let timer = setTimeout(end, CONNECT_MS, 'no answer');
      const heard = (): void => {
        clearTimeout(timer);
        if (isOver) return;
        timer = setTimeout(end, SILENCE_MS, 'it is silent');
      };
      socket.addEventListener('open', () => {
        isOpen = true;
        heard();
        log.line(`follows ${server}`);
      });
      socket.addEventListener('message', ({ data }) => {
        // Another server may be followed by now.
        if (isOver) return;
        heard();
        void replyTo(data, (request) => translated.act(request)).then((reply) => {
          if (socket.readyState === WebSocket.OPEN) socket.send(reply);
        });
      });
      socket.addEventListener('error', (event) => {
        problem = 'message' in event && typeof event.message === 'string' ? event.message : '';
      });
      // WebSocket does not report which answer came in place of a websocket.
      const otherwise = (): string =>
        isOpen ? 'the connection is gone' : 'it cannot be reached, or does not know the token';
      socket.addEventListener('close', ({ reason }) => end(reason || problem || otherwise()));
    });
  }
}

async function replyTo(data: unknown, act: RequestHandler): Promise<string> {
  let id: unknown = null;
  try {
    const message: unknown = JSON.parse(String(data));
    id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
    return JSON.stringify({ id, result: (await act(checkRequest(message))) ?? null });
  } catch (error) {
    return JSON.stringify({ id, error: error instanceof Error ? error.message : String(error) });
  }
}
