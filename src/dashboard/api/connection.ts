/** Whether the server answers. When it does not, it is asked again and again until it does. */
import { signal } from '@preact/signals';

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const ANSWER_MS = 10_000;

export const isLost = signal(false);
/** Grows when the server answers again after it did not, or the viewer has signed in again: what was read before is read anew. */
export const comebacks = signal(0);
let wait = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

export function connectionThere(): void {
  wait = FIRST_WAIT_MS;
  clearTimeout(timer);
  timer = undefined;
  if (!isLost.value) return;
  isLost.value = false;
  readAgain();
}

export function readAgain(): void {
  comebacks.value += 1;
}

export function connectionLost(): void {
  isLost.value = true;
  timer ??= setTimeout(() => void tryAgain(), wait);
}

/** Right now. */
export async function tryAgain(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  try {
    // Whatever the status, somebody has answered.
    const signal = AbortSignal.timeout(ANSWER_MS);
    await fetch('/dashboard/api/info', { headers: { 'x-tancho-dashboard': '1' }, cache: 'no-store', signal });
    connectionThere();
  } catch {
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    connectionLost();
  }
}
