/** The dashboard in Chromium: first load, first paint, the list of a thousand apps, the live log while much is written. */
import type { Browser, Page } from 'playwright-core';
import { openBrowser, signIn, tabMemory, visit, WITHOUT_BROWSER } from '../../test/support/browser.ts';
import { compressedBytes } from '../../test/support/compressed-bytes.ts';
import type { World } from '../../test/support/world.ts';
import type { Bench, Measure } from '../bench.ts';
import { APPS, createApps } from '../thousand-apps.ts';

const ROUNDS = 5;
const LINES_A_SECOND = 5_000;
const LINES_AT_ONCE = 500;
const LOG_APP = 'listed-0';
/** Of each round with the log. */
const WATCHED_MS = 3_000;
/** Of the page's own clock, which begins with the navigation. */
const FIRST_PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
const LIST_DRAWN = `document.querySelectorAll('.virtual a').length > 10 && performance.now()`;
const HOLDS_LINES = `document.querySelectorAll('.log .line').length > 20`;
const FRAMES_A_SECOND = `new Promise((resolve) => {
  const begun = performance.now();
  let frames = 0;
  const count = (now) => {
    if (now - begun >= ${WATCHED_MS}) return resolve((frames * 1000) / (now - begun));
    frames += 1;
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
})`;

export const dashboard: Measure = {
  name: 'dashboard',
  about: 'first load, first paint, a thousand apps, and the live log in Chromium',
  async run(bench) {
    if (WITHOUT_BROWSER !== '') {
      bench.note(`left out: ${WITHOUT_BROWSER}`);
      return;
    }
    const world = await bench.world();
    const token = await world.login();
    await createApps(world, token);
    const browser = await openBrowser();
    bench.keep({ dispose: () => browser.close() });
    await measurePages(bench, browser, world);
    await measureLog(bench, browser, world, token);
  },
};

async function measurePages(bench: Bench, browser: Browser, world: World): Promise<void> {
  const painted: number[] = [];
  const listed: number[] = [];
  const received = new Set<string>();
  await bench.rounds(ROUNDS, async () => {
    // Nothing is kept from the round before: a first visit.
    const { page, context } = await visit(browser);
    page.on('response', (response) => void received.add(new URL(response.url()).pathname));
    await page.goto(`${world.apiUrl}/dashboard`);
    painted.push(await numberOf(page, FIRST_PAINT));
    await signIn(page, world);
    await page.goto(`${world.apiUrl}/dashboard`);
    listed.push(await numberOf(page, LIST_DRAWN));
    await context.close();
  });
  const files = [...received].filter((path) => path === '/dashboard' || path.startsWith('/dashboard/files/'));
  const bytes = await compressedBytes(world.apiUrl, files);
  bench.publish({ what: 'first load, to the list of apps, gzip (100 at most)', unit: 'KB', samples: [bytes / 1_024] });
  bench.publish({ what: 'first paint of a first visit (1,000 at most)', unit: 'ms', samples: painted });
  bench.publish({ what: `list of ${APPS} apps drawn (1,500 at most)`, unit: 'ms', samples: listed });
}

/** Looked at with each frame; the policy of the page allows no other way to wait in it. */
function numberOf(page: Page, expression: string): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () => {
      const found = ${expression};
      if (found) resolve(Number(found));
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

async function measureLog(bench: Bench, browser: Browser, world: World, token: string): Promise<void> {
  const { page, context } = await visit(browser);
  await signIn(page, world, `/apps/${LOG_APP}/log`);
  const writing = new AbortController();
  const written = write(world, token, writing.signal);
  await numberOf(page, HOLDS_LINES);
  const frames: number[] = [];
  const memory: number[] = [];
  await bench.rounds(ROUNDS, async () => {
    frames.push(await page.evaluate<number>(FRAMES_A_SECOND));
    memory.push((await tabMemory(browser)) / 1e6);
  });
  writing.abort();
  const rate = await written;
  if (rate < LINES_A_SECOND * 0.9) bench.note(`only ${Math.round(rate)} lines a second could be written`);
  await context.close();
  const what = `live log, ${LINES_A_SECOND} lines/s`;
  bench.publish({ what: `${what}: frames (50 at least)`, unit: 'frames/s', samples: frames });
  bench.publish({ what: `${what}: memory of the tab (150 at most)`, unit: 'MB', samples: memory });
}

/** Writes until it is stopped; answers how many lines a second it came to. */
async function write(world: World, token: string, stop: AbortSignal): Promise<number> {
  const begun = performance.now();
  let lines = 0;
  while (!stop.aborted) {
    const due = begun + (lines / LINES_A_SECOND) * 1_000;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const body = Array.from({ length: LINES_AT_ONCE }, (_, n) => `line ${lines + n} of a log that is written quickly`);
    await world.api('POST', `/apps/${LOG_APP}/log`, { token, body: JSON.stringify(body) });
    lines += LINES_AT_ONCE;
  }
  return lines / ((performance.now() - begun) / 1_000);
}
