/** Shows people on a terminal that something is going on, from the second second on. */
import type { Output } from './context.ts';

const FIRST_MS = 1000;
const FRAMES = ['|', '/', '-', '\\'];

interface Spinner {
  /** Takes the spinner's line away, so that something can be printed; it comes back by itself. */
  clear(): void;
  stop(): void;
}

export function startSpinner(output: Output, label: string): Spinner {
  if (output.isTTY !== true) return { clear() {}, stop() {} };
  const begun = Date.now();
  let lastPrint = begun;
  let frame = 0;
  let shown = false;
  const clear = (): void => {
    if (shown) output.write('\r\u001b[K');
    shown = false;
    lastPrint = Date.now();
  };
  const timer = setInterval(() => {
    if (!shown && Date.now() - lastPrint < FIRST_MS) return;
    shown = true;
    frame += 1;
    const seconds = Math.floor((Date.now() - begun) / 1000);
    output.write(`\r\u001b[K${FRAMES[frame % FRAMES.length] ?? ''} ${label} (${seconds}s)`);
  }, 120);
  timer.unref();
  return {
    clear,
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}
