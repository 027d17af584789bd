/**
 * Faults at the border between the domain and its backends: the n-th call becomes the moment of a crash, or a call is held
 * up or made to fail. A crashed border answers nobody any more, as nothing goes on in a process that was killed.
 */
export type Moment = 'before' | 'after';

export interface CrashPoint {
  /** From 1; 0 for never. */
  readonly call: number;
  readonly moment: Moment;
  /** Counts the calls of this method only, e.g. `logStore.append`; absent: every call that has an effect. */
  readonly only?: string;
}

/** Calls that change something outside; the others are no interesting moments to crash at. */
const EFFECTS: ReadonlySet<string> = new Set([
  'store.transact',
  'provisioner.ensure',
  'provisioner.stop',
  'provisioner.remove',
  'provisioner.exec',
  'router.apply',
  'router.drained',
  'builder.build',
  'builder.removeCache',
  'artifacts.remove',
  'volumeHost.create',
  'volumeHost.remove',
  'gitHost.create',
  'gitHost.remove',
  'gitHost.holdPush',
  'gitHost.finishPush',
  'logStore.forgetUnit',
  'logStore.removeApp',
  'endpoint.create',
  'endpoint.remove',
  'endpoint.bind',
  'endpoint.unbind',
]);

/** Not asynchronous: handed through as they are. */
const PLAIN: ReadonlySet<string> = new Set([
  'provisioner.at',
  'provisioner.of',
  'provisioner.onExit',
  'provisioner.output',
  'provisioner.routed',
  'gitHost.source',
]);

type Hook = (given: readonly unknown[]) => void | Promise<void>;

export class Faults {
  /** The calls with effects since arm(), for saying where a crash was. */
  readonly calls: string[] = [];
  readonly crashed: Promise<'crashed'>;
  #isCrashed = false;
  #resolveCrashed: (value: 'crashed') => void = () => undefined;
  #target: CrashPoint = { call: 0, moment: 'before' };
  readonly #hooks = new Map<string, Set<Hook>>();

  constructor() {
    this.crashed = new Promise((resolve) => {
      this.#resolveCrashed = resolve;
    });
  }

  get isCrashed(): boolean {
    return this.#isCrashed;
  }

  /** Counts from here. */
  arm(point: CrashPoint): void {
    this.calls.length = 0;
    this.#target = point;
  }

  crash(): void {
    this.#isCrashed = true;
    this.#resolveCrashed('crashed');
  }

  /** Runs `hook` before each call of e.g. `router.drained`: it may wait, or throw in its place. Returns how to undo. */
  on(name: string, hook: Hook): () => void {
    const hooks = this.#hooks.get(name) ?? new Set();
    this.#hooks.set(name, hooks.add(hook));
    return () => void hooks.delete(hook);
  }

  /** Holds up every call of a method until the returned function is called. */
  hold(name: string): { readonly reached: Promise<void>; readonly release: () => void } {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let reach = (): void => {};
    const reached = new Promise<void>((resolve) => (reach = resolve));
    this.on(name, () => {
      reach();
      return released;
    });
    return { reached, release };
  }

  /** The same backend, behind this border. */
  wrap<T extends object>(kind: string, backend: T): T {
    return new Proxy(backend, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        const name = `${kind}.${String(property)}`;
        if (PLAIN.has(name)) return (...given: unknown[]): unknown => Reflect.apply(value, target, given);
        return (...given: unknown[]) => this.#call(name, given, () => Reflect.apply(value, target, given));
      },
    });
  }

  async #call(name: string, given: readonly unknown[], real: () => unknown): Promise<unknown> {
    if (this.#isCrashed) return never();
    const target = this.#target;
    const counts = target.only === undefined ? EFFECTS.has(name) : name === target.only;
    const isTarget = counts && this.calls.push(name) === target.call;
    if (isTarget && target.moment === 'before') this.crash();
    if (this.#isCrashed) return never();
    for (const hook of this.#hooks.get(name) ?? []) await hook(given);
    if (this.#isCrashed) return never();
    try {
      return await real();
    } finally {
      // A call in the background may outlast what the crash was meant for.
      if (isTarget && target === this.#target) this.crash();
      if (this.#isCrashed) await never();
    }
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
