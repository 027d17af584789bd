/** The same object, with every failure of its methods passed through `translate`. Methods become asynchronous. */
export function withTranslatedErrors<T extends object>(methods: T, translate: (thrown: unknown) => unknown): T {
  const wrapped = Object.entries(methods).map(([name, method]: [string, unknown]) => {
    if (typeof method !== 'function') return [name, method];
    const call = async (...given: unknown[]): Promise<unknown> => {
      try {
        return (await Reflect.apply(method, methods, given)) as unknown;
      } catch (thrown) {
        throw translate(thrown);
      }
    };
    return [name, call];
  });
  return Object.fromEntries(wrapped) as T;
}
