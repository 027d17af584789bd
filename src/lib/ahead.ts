/**
 * Runs tasks in their order, at most `count` at once, and gives their results in that order. Whoever stops reading, or gets an error,
 * goes on when those that run have ended.
 */
export async function* ahead<T>(count: number, tasks: readonly (() => Promise<T>)[]): AsyncGenerator<T> {
  const running: Promise<T>[] = [];
  let next = 0;
  try {
    while (next < tasks.length || running.length > 0) {
      while (running.length < count && next < tasks.length) {
        const task = tasks[next];
        next += 1;
        if (task === undefined) continue;
        const started = task();
        started.catch(() => undefined);
        running.push(started);
      }
      const [first] = running;
      if (first === undefined) return;
      const result = await first;
      running.shift();
      yield result;
    }
  } finally {
    await Promise.allSettled(running);
  }
}
