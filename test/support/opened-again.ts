interface Closable {
  close(): Promise<unknown>;
}

/** What is kept somewhere, for suites that open it once more: as after a restart, or beside itself. `clean` is called when everything is closed. */
export async function openedAgain<T extends Closable>(
  open: () => Promise<T>,
  clean: () => Promise<void>,
): Promise<{ readonly store: T; again(): Promise<T>; dispose(): Promise<void> }> {
  const opened: T[] = [];
  const again = async (): Promise<T> => {
    const store = await open();
    opened.push(store);
    return store;
  };
  const dispose = async (): Promise<void> => {
    for (const store of opened) await store.close();
    await clean();
  };
  return { store: await again(), again, dispose };
}
