/** Ten million lines go through the live log of one tab: it holds a bounded number of them, its memory does not grow with them, and it still does what is asked. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, tabMemory, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { type World, startWorld } from '../support/world.ts';

const LINES = 10_000_000;
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
      const entry = { Date: '2026-01-01T00:00:00.000Z', Message: 'line ' + sent + ' of a log that has many of them', Source: 'web', Unit: 'shop.0', AppName: 'shop', Cursor: String(sent) };
      text += 'id: ' + sent + '\\ndata: ' + JSON.stringify(entry) + '\\n\\n';
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

let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  await world.api('POST', '/apps', {
    token: await world.login(),
    body: JSON.stringify({ name: 'shop', platform: 'nodejs' }),
  });
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
needsBrowser(() => world);

it(
  'ten million lines leave a tab that holds the newest, and no more memory than the first of them',
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
    await log.evaluate('(box) => box.scrollTo(0, box.scrollHeight / 2)');
    await expect.poll(() => log.locator('.line').first().textContent()).toMatch(/line 99\d{5} of a log/);
    expect(faults).toEqual([]);
    await context.close();
  },
  PATIENCE_MS + 240_000,
);
