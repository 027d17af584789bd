/** A log that is longer than any page: what goes through the tab does not grow in it, all of it can be reached, and its lines lead on. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, tabMemory, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { createWorkTree, nodeApp } from '../support/git.ts';
import { rounds } from '../support/rounds.ts';
import { type World, startWorld } from '../support/world.ts';

const LINES = rounds(2_000_000, 10_000_000);
const MOST_HELD = 50_000;
/** What a tab may hold more after all of them than after the first tenth; how much that is at a rate of life, the bench says. */
const MOST_GROWTH_BYTES = 50e6;
const PATIENCE_MS = 1_200_000;
/**
 * In the page, in place of the server's answer to who follows the log: as many lines at once as a connection brings, each part in a task of
 * its own, as from a socket. A real log of that length would take a server most of an hour to write.
 */
const FEED = `(() => {
  const real = window.fetch;
  const encoder = new TextEncoder();
  let sent = 0;
  window.sentLines = () => sent;
  const part = () => {
    let text = '';
    for (let n = 0; n < 1000 && sent < ${LINES}; n += 1) {
      sent += 1;
      text += 'id: ' + sent + '\\ndata: {"Date":"2026-01-01T00:00:00.000Z","Message":"line ' + sent + ' of a log that has many of them",' +
        '"Source":"web","Unit":"shop.0","AppName":"shop","Cursor":"' + sent + '"}\\n\\n';
    }
    return encoder.encode(text);
  };
  window.fetch = (url, ...rest) => {
    if (!String(url).includes('/log?') || !String(url).includes('follow=1')) return real(url, ...rest);
    const body = new ReadableStream({
      async pull(stream) {
        await new Promise((resolve) => setTimeout(resolve));
        if (sent < ${LINES}) stream.enqueue(part());
        else await new Promise(() => {});
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
  };
})()`;

/** A script of the page. */
const scrolledTo = (place: string): string =>
  `(() => { const box = document.querySelector('.log'); box.scrollTo(0, ${place}); })()`;

let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  const token = await world.login();
  for (const name of ['shop', 'depot']) {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
  }
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
needsBrowser(() => world);

it(
  `${LINES} lines leave a tab that holds the newest, and no more memory than the first of them`,
  async () => {
    const { page, context, faults } = await visit(browser);
    await page.addInitScript(FEED);
    await signIn(page, world, '/apps/shop/log');
    const held = { early: 0, late: 0 };
    const sentLines = async (): Promise<number> => {
      const sent = await page.evaluate<number>('sentLines()');
      const when = sent < LINES / 5 ? 'early' : 'late';
      held[when] = Math.max(held[when], await tabMemory(browser));
      return sent;
    };
    await expect.poll(sentLines, { timeout: PATIENCE_MS, interval: 500 }).toBe(LINES);
    const log = page.getByRole('log', { name: 'Log', exact: true });
    await expect.poll(() => log.locator('.line').last().textContent()).toContain(`line ${LINES} of a log`);
    const lines = Number(
      /([\d,]+) lines held/.exec((await page.locator('#main').textContent()) ?? '')?.[1]?.replaceAll(',', ''),
    );
    expect(lines).toBeGreaterThan(0);
    expect(lines).toBeLessThanOrEqual(MOST_HELD);
    expect(held.late - held.early, JSON.stringify(held)).toBeLessThanOrEqual(MOST_GROWTH_BYTES);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.evaluate(scrolledTo('box.scrollHeight / 2'));
    const firstShown = async (): Promise<number> =>
      Number(/line (\d+) of a log/.exec((await log.locator('.line').first().textContent()) ?? '')?.[1]);
    await expect.poll(firstShown).toBeLessThan(LINES - MOST_HELD / 5);
    expect(await firstShown()).toBeGreaterThan(LINES - MOST_HELD);
    expect(faults).toEqual([]);
    await context.close();
  },
  PATIENCE_MS + 240_000,
);

/** Of scrolling through all of it, on a busy machine. */
const SCROLL_MS = 240_000;
const PUSHED = 60_000;
const PUSHED_AT_ONCE = 2_000;

it(
  'a log that is longer than what a page holds is scrolled through to its first line and back to its last',
  async () => {
    const token = await world.login();
    for (let sent = 0; sent < PUSHED; sent += PUSHED_AT_ONCE) {
      const lines = Array.from({ length: PUSHED_AT_ONCE }, (_, at) => `entry ${sent + at + 1} of many`);
      const answer = await world.api('POST', '/apps/depot/log', { token, body: JSON.stringify(lines) });
      expect(answer.status, answer.text).toBe(200);
    }
    const { page, context, faults } = await visit(browser);
    await signIn(page, world, '/apps/depot/log?source=app');
    const log = page.getByRole('log', { name: 'Log', exact: true });
    const held = async (): Promise<number> => {
      const [, count = ''] = /([\d,]+) lines held/.exec((await page.locator('#main').textContent()) ?? '') ?? [];
      return Number(count.replaceAll(',', ''));
    };
    const scrollTo = (place: string): Promise<unknown> => page.evaluate(scrolledTo(place));
    const first = (): Promise<string | null> => log.locator('.line .what').first().textContent();
    await log.getByText(`entry ${PUSHED} of many`).waitFor();
    await expect
      .poll(
        async () => {
          await scrollTo('0');
          return first();
        },
        { timeout: SCROLL_MS },
      )
      .toBe('entry 1 of many');
    expect(await held()).toBeGreaterThan(MOST_HELD - 5_000);
    expect(await held()).toBeLessThanOrEqual(MOST_HELD);
    await page.getByText('newer lines come as you scroll down').waitFor();
    // What is written meanwhile does not move what is read.
    await world.api('POST', '/apps/depot/log', { token, body: JSON.stringify(['written meanwhile']) });
    await expect
      .poll(
        async () => {
          await scrollTo('box.scrollHeight');
          const isLive = await page.getByText('Live', { exact: true }).isVisible();
          return isLive ? log.locator('.line .what').last().textContent() : '';
        },
        { timeout: SCROLL_MS },
      )
      .toBe('written meanwhile');
    expect(await held()).toBeLessThanOrEqual(MOST_HELD);
    await scrollTo('0');
    await page.getByRole('button', { name: 'Follow' }).click();
    await log.getByText('written meanwhile').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  },
  2 * SCROLL_MS + 240_000,
);

it('lines are chosen and opened by keyboard, and lead to what was around them', async () => {
  const token = await world.login();
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'short', platform: 'nodejs' }) });
  await world.api('POST', '/apps/short/log', { token, body: JSON.stringify(['one', 'two', '{"three":3}']) });
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/apps/short/log?source=app&search=t');
  const log = page.getByRole('log', { name: 'Log', exact: true });
  await log.getByText('two').waitFor();
  expect(await log.getByText('one', { exact: true }).count()).toBe(0);
  await log.focus();
  await page.keyboard.press('ArrowUp');
  await page.getByRole('button', { name: 'Follow' }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  const opened = page.getByRole('dialog', { name: 'One line' });
  await opened.getByText('two').waitFor();
  await opened.getByRole('link', { name: 'What was around it' }).press('Enter');
  await page.getByText('As it was then').waitFor();
  await log.getByText('one', { exact: true }).waitFor();
  expect(await page.getByLabel('Search the log').inputValue()).toBe('');
  await page.goBack();
  await expect.poll(() => page.getByLabel('Search the log').inputValue()).toBe('t');
  expect(faults).toEqual([]);
  await context.close();
});

const TICKER = `let n = 0;
setInterval(() => console.log('tick ' + (n += 1) + ' of many'), 100);
require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT);
`;

it('a log whose server goes away says so, and goes on without a gap and without a line twice when it is back', async () => {
  const token = await world.login();
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'ticker', platform: 'nodejs' }) });
  const tree = await createWorkTree({ ...nodeApp(''), 'server.js': TICKER });
  const pushed = await world.cli(['deploy', tree.dir, '-a', 'ticker']);
  expect(pushed.code, pushed.stderr).toBe(0);
  await tree.dispose();
  // So high that all lines are there.
  const { page, context, faults } = await visit(browser, { height: 20_000 });
  await signIn(page, world, '/apps/ticker/log?source=web');
  const log = page.getByRole('log', { name: 'Log', exact: true });
  const ticks = async (): Promise<number[]> => {
    const lines = await log.locator('.line .what').allTextContents();
    return lines.flatMap((line) => /^tick (\d+) of many$/.exec(line)?.slice(1).map(Number) ?? []);
  };
  const newest = async (): Promise<number> => (await ticks()).at(-1) ?? 0;
  await expect.poll(newest).toBeGreaterThan(3);
  await world.end('SIGKILL');
  await page.getByText('Connection lost; it goes on after the last line').waitFor();
  const before = await newest();
  await world.startAgain();
  await page.getByText('Live', { exact: true }).waitFor();
  await expect.poll(newest).toBeGreaterThan(before + 20);
  const seen = await ticks();
  const [first = 0] = seen;
  expect(seen).toEqual(seen.map((_, index) => first + index));
  expect(first).toBeLessThanOrEqual(before);
  expect(faults).toEqual([]);
  await context.close();
});
