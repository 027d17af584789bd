import type { Store, StoreWriter } from '../store.ts';

/** Names of methods that write -> who is to know when a transaction that called one of them is committed. */
type AfterCommit = Readonly<Partial<Record<keyof StoreWriter, () => void>>>;

/** The same store, which notifies after the commit. */
export function notifyingAfterCommit<S extends Pick<Store, 'transact'>>(store: S, after: AfterCommit): S {
  const transact = async <T>(work: (tx: StoreWriter) => Promise<T>): Promise<T> => {
    const called = new Set<() => void>();
    const result = await store.transact((tx) => {
      called.clear();
      return work(
        new Proxy(tx, {
          get(target, name) {
            const notify = Object.hasOwn(after, name) ? after[name as keyof StoreWriter] : undefined;
            if (notify !== undefined) called.add(notify);
            return Reflect.get(target, name) as unknown;
          },
        }),
      );
    });
    for (const notify of called) notify();
    return result;
  };
  return new Proxy(store, {
    get: (target, name): unknown => (name === 'transact' ? transact : Reflect.get(target, name)),
  });
}
