/**
 * Modules of another version than this page are not served any more, and what a browser has cut off (its network is another one) it does not
 * ask for again: the page is loaded anew, by itself where nothing is lost with it. Each time in a row it waits longer.
 */
import { call } from './api/call.ts';
import { atWork } from './data/at-work.ts';

const KEY = 'tancho-loaded-again';
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** The answer stops it. */
export function loadAgainSoon(): () => void {
  const times = Number(sessionStorage.getItem(KEY) ?? 0);
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** times, LONGEST_WAIT_MS);
  const timer = setInterval(() => {
    if (atWork.value > 0) return;
    void call('GET /info').then(
      () => {
        clearInterval(timer);
        sessionStorage.setItem(KEY, String(times + 1));
        location.reload();
      },
      () => undefined,
    );
  }, waitMs);
  return () => clearInterval(timer);
}

export function allIsLoaded(): void {
  sessionStorage.removeItem(KEY);
}
