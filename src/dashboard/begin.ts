/**
 * Runs as soon as it is there, and imports nothing: a part of the page that does not come (the server is started again, or another version of
 * it is there) would leave it empty for good. The page is loaded again as soon as the server answers.
 */
export {};

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const ANSWER_MS = 10_000;
const LOOK_MS = 5_000;
/** A busy server takes its time for the page, too; another attempt would begin from the beginning. */
const RELOAD_MS = 30_000;
/** Nothing has come for so long that nothing will: a slow connection brings something all the time. */
const SILENT_MS = 20_000;

/** What stands in the page until the program begins. */
const placeholder = (): Element | null => document.querySelector('#app > .waiting');
/** How often the page was loaded again in a row; the program that begins forgets it. */
const KEY = 'tancho-begun-again';
const times = Number(sessionStorage.getItem(KEY) ?? 0);
/** A page that was loaded again and still lacks something is loaded in less of a hurry each time. */
let waitMs = Math.min(FIRST_WAIT_MS * 2 ** times, LONGEST_WAIT_MS);
let isMissing = false;
let came = 0;
let lastCameAt = performance.now();

/** Errors of elements do not bubble. */
addEventListener('error', ({ target }) => target instanceof HTMLScriptElement && missing(), true);
/** What failed before this ran. */
if (document.readyState === 'complete') missing();
else addEventListener('load', missing);

/** A request that is never answered is no error. */
const watch = setInterval(() => {
  const now = performance.now();
  const { length } = performance.getEntriesByType('resource');
  if (length !== came) [came, lastCameAt] = [length, now];
  if (document.readyState === 'loading') return;
  if (placeholder() === null || isMissing) clearInterval(watch);
  else if (now - lastCameAt >= SILENT_MS) {
    // What it waits for holds connections that the next attempt needs.
    stop();
    missing();
  }
}, LOOK_MS);

function missing(): void {
  if (isMissing || placeholder() === null) return;
  isMissing = true;
  placeholder()?.classList.add('missing');
  later();
}

function later(): void {
  setTimeout(() => void look(), waitMs);
  waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
}

async function look(): Promise<void> {
  try {
    const { ok } = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(ANSWER_MS) });
    if (ok) {
      sessionStorage.setItem(KEY, String(times + 1));
      location.reload();
      waitMs = RELOAD_MS;
    }
  } catch {
    // Still away.
  }
  // It ends with this page; a browser may drop it where it does not.
  later();
}
