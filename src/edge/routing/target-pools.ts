import type { Target } from '../../domain/routes/router.ts';
import type { Deadlines } from '../proxy/deadlines.ts';
import type { EdgeProxySettings } from '../proxy/settings.ts';
import { TargetPool } from './target-pool.ts';

interface Waiter {
  readonly units: ReadonlySet<string>;
  readonly resolve: (open: number) => void;
  readonly timer: NodeJS.Timeout;
}

/** All targets this process has connections to: those of the table, and retired ones until their last request. */
export class TargetPools {
  readonly #settings: EdgeProxySettings;
  readonly #deadlines: Deadlines;
  readonly #pools = new Map<string, TargetPool>();
  readonly #waiters = new Set<Waiter>();
  #turn = 0;

  constructor(settings: EdgeProxySettings, deadlines: Deadlines) {
    this.#settings = settings;
    this.#deadlines = deadlines;
  }

  /** The pool of a target; made when it is new. */
  pool(target: Target): TargetPool {
    const key = keyOf(target);
    const known = this.#pools.get(key);
    if (known !== undefined) return known;
    const pool = new TargetPool(target, this.#settings);
    pool.onIdle = () => this.#idle(key, pool);
    this.#pools.set(key, pool);
    return pool;
  }

  /** Revives those of the table and retires the others; to be called once the new table is in force. */
  settle(ofTable: readonly TargetPool[]): void {
    const wanted = new Set(ofTable);
    for (const [key, pool] of this.#pools) {
      if (wanted.has(pool)) pool.revive();
      else if (!pool.retired) {
        pool.retire();
        if (pool.load === 0) this.#pools.delete(key);
      }
    }
  }

  /** The pool with the fewest requests among those not tried yet, preferring those that are not known to refuse. */
  pick(pools: readonly TargetPool[], tried: ReadonlySet<TargetPool> | null): TargetPool | null {
    const now = this.#deadlines.now;
    const offset = this.#turn++;
    let best: TargetPool | null = null;
    let bestDown = false;
    for (let index = 0; index < pools.length; index++) {
      const pool = pools[(index + offset) % pools.length] as TargetPool;
      if (tried?.has(pool) === true) continue;
      const down = pool.isDown(now);
      const better = best === null || (bestDown && !down) || (bestDown === down && pool.load < best.load);
      if (!better) continue;
      best = pool;
      bestDown = down;
    }
    return best;
  }

  /** Requests on these units. */
  inFlight(units: ReadonlySet<string>): number {
    let sum = 0;
    for (const pool of this.#pools.values()) if (units.has(pool.target.unit)) sum += pool.inFlight;
    return sum;
  }

  /** Resolves with 0 once no request is in flight on these units, or after `timeoutMs` with how many still are. */
  drained(units: ReadonlySet<string>, timeoutMs: number): Promise<number> {
    if (this.inFlight(units) === 0) return Promise.resolve(0);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(waiter);
        resolve(this.inFlight(units));
      }, timeoutMs);
      const waiter: Waiter = { units, resolve, timer };
      this.#waiters.add(waiter);
    });
  }

  expire(): void {
    for (const pool of this.#pools.values()) pool.expire(this.#deadlines.now);
  }

  closeTunnels(): void {
    for (const pool of this.#pools.values()) pool.closeTunnels();
  }

  /** Closes every idle connection and answers every waiter; nothing is forwarded after this. */
  close(): void {
    for (const pool of this.#pools.values()) if (!pool.retired) pool.retire();
    for (const waiter of this.#waiters) {
      clearTimeout(waiter.timer);
      waiter.resolve(this.inFlight(waiter.units));
    }
    this.#waiters.clear();
  }

  #idle(key: string, pool: TargetPool): void {
    if (pool.retired && pool.load === 0 && this.#pools.get(key) === pool) this.#pools.delete(key);
    for (const waiter of [...this.#waiters]) {
      if (!waiter.units.has(pool.target.unit) || this.inFlight(waiter.units) > 0) continue;
      clearTimeout(waiter.timer);
      this.#waiters.delete(waiter);
      waiter.resolve(0);
    }
  }
}

function keyOf(target: Target): string {
  const { unit, host, port, process } = target;
  return `${unit} ${host} ${port} ${process?.pid} ${process?.start} ${process?.uid}`;
}
