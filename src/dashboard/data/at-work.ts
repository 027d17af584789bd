import { signal } from '@preact/signals';

/** How much goes on that would be lost, or lost sight of, with the page. */
export const atWork = signal(0);

export async function counted<T>(work: Promise<T>): Promise<T> {
  atWork.value += 1;
  try {
    return await work;
  } finally {
    atWork.value -= 1;
  }
}
