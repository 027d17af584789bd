/** Waits for a condition to be observed; fails with what was waited for. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  options: { timeoutMs: number; what: string; everyMs?: number; detail?: () => string },
): Promise<void> {
  const deadline = Date.now() + options.timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) {
      throw new Error(
        `waited ${options.timeoutMs} ms in vain for ${options.what}${options.detail === undefined ? '' : `\n${options.detail()}`}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, options.everyMs ?? 25));
  }
}
