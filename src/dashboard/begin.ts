/**
 * Runs before everything else of the page, and imports nothing: a part of the page that does not come (the server is started again, or another
 * version of it is there) would leave it empty for good. The page is loaded again as soon as the server answers.
 */
export {};

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const ANSWER_MS = 10_000;

/** A page that was loaded again and still lacks something is not loaded in a hurry. */
const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
let waitMs = visit?.type === 'reload' ? LONGEST_WAIT_MS : FIRST_WAIT_MS;
let isMissing = false;

/** Errors of elements do not bubble. */
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement) || isMissing) return;
    isMissing = true;
    document.querySelector('.waiting')?.classList.add('missing');
    later();
  },
  true,
);

function later(): void {
  setTimeout(() => void look(), waitMs);
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
}

async function look(): Promise<void> {
  try {
    const { ok } = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
    if (ok) location.reload();
  } catch {
    // Still away.
  }
  // It ends with this page; a browser may drop it where it does not.
  later();
}
