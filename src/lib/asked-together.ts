/**
 * One question for everybody who asks at about the same time. The question is put after the last of them has come and never
 * while an earlier one is under way, so no answer is older than any asker.
 */
export function askedTogether<T>(question: () => Promise<T>): () => Promise<T> {
  let gathering: Promise<T> | null = null;
  let underWay: Promise<unknown> = Promise.resolve();

  async function ask(): Promise<T> {
    await Promise.all([underWay, new Promise((resolve) => setImmediate(resolve))]);
    gathering = null;
    const asked = question();
    underWay = asked.catch(() => undefined);
    return asked;
  }

  return () => (gathering ??= ask());
}
