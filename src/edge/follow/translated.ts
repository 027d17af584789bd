/**
 * What a server asks, in terms of the edge. Servers take the versions of their tables from ranges of their own, so what follows another
 * one's may have a smaller number: the edge counts for itself, and reports to each server the version that it knows.
 */
import type { RouteTable } from '../../domain/routes/router.ts';
import type { EdgeRequest } from '../control/operations.ts';

interface Versioned {
  readonly version: number;
}

export type RequestHandler = (request: EdgeRequest) => Promise<unknown>;

/** For one connection. */
export class Translated {
  readonly #answer: RequestHandler;
  /** As the server counts; null: it has handed none over this connection. */
  #table: number | null = null;
  /** As the edge counts it. */
  #own: number | null = null;
  #certificates: number | null = null;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(answer: RequestHandler) {
    this.#answer = answer;
  }

  act(request: EdgeRequest): Promise<unknown> {
    switch (request.op) {
      case 'drained':
      case 'traffic':
      case 'all-traffic':
      case 'access-log':
        return this.#answer(request);
      case 'hello':
        return Promise.resolve({ version: this.#table });
      case 'apply':
      case 'change':
      case 'apply-certificates':
        return this.#inTurn(() => this.#change(request));
      case 'table':
      case 'certificates':
      // Programs are for whoever has this machine to start.
      case 'succeed':
      case 'leave':
        return Promise.reject(new Error('not for a server elsewhere'));
    }
  }

  #inTurn(work: () => Promise<unknown>): Promise<unknown> {
    const done = this.#changing.then(work);
    this.#changing = done.catch(() => {});
    return done;
  }

  async #change(request: Extract<EdgeRequest, { op: 'apply' | 'change' | 'apply-certificates' }>): Promise<unknown> {
    if (request.op === 'apply-certificates') {
      if (this.#certificates !== null && request.set.version <= this.#certificates) return { persisted: true };
      const { version } = (await this.#answer({ op: 'certificates' })) as Versioned;
      await this.#answer({ op: 'apply-certificates', set: { ...request.set, version: version + 1 } });
      this.#certificates = request.set.version;
      return { version: this.#certificates, persisted: true };
    }
    const { version } = (await this.#answer({ op: 'hello' })) as Versioned;
    if (request.op === 'change') {
      const { change } = request;
      if (change.base !== this.#table || version !== this.#own) return null;
      const put = change.put.map(({ at, route }) => ({ at, route: elsewhere(route) }));
      const own = { ...change, base: version, version: version + 1, put };
      if ((await this.#answer({ op: 'change', change: own })) === null) return null;
      this.#table = change.version;
    } else {
      const { table } = request;
      await this.#answer({ op: 'apply', table: { version: version + 1, routes: table.routes.map(elsewhere) } });
      this.#table = table.version;
    }
    this.#own = version + 1;
    return { version: this.#table, persisted: true };
  }
}

type Route = RouteTable['routes'][number];

/** Processes of another machine have numbers that mean others here. */
function elsewhere(route: Route): Route {
  if (route.targets.every(({ process }) => process === undefined)) return route;
  return { ...route, targets: route.targets.map(({ unit, host, port }) => ({ unit, host, port })) };
}
