/** What is waited for comes in milliseconds; on a machine that does twenty other things it takes much longer. */
const GENEROUS_MS = 120_000;

/** Waits for a condition to be observed; fails with what was waited for. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  options: { timeoutMs?: number; what: string; everyMs?: number; detail?: () => string },
): Promise<void> {
  const timeoutMs = options.timeoutMs ?? GENEROUS_MS;
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      throw new Error(
        `waited ${timeoutMs} ms in vain for ${options.what}${options.detail === undefined ? '' : `\n${options.detail()}`}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 25));
  }
}
