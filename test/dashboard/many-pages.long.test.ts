/** Many pages of one browser at once: they share six connections to the server, and none of them takes one for good that others need. */
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MOST_STREAMS } from '../../src/dashboard/data/streams.ts';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { startWorld, type World } from '../support/world.ts';

const PAGES = 8;

let world: World;
let browser: Browser;
let token: string;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  token = await world.login();
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
needsBrowser(() => world);

const logOf = (page: Page) => page.getByRole('log', { name: 'Log', exact: true });

async function write(line: string): Promise<void> {
  await world.api('POST', '/apps/shop/log', { token, body: JSON.stringify([line]) });
}

/** Streams of a browser that have begun and not ended. Of a page that is closed the browser does not always say that they have. */
function streamsOf(context: BrowserContext): () => number {
  const open = new Set<Request>();
  context.on('request', (request) => {
    if (request.url().includes('follow=1')) open.add(request);
  });
  const over = (request: Request): void => void open.delete(request);
  context.on('requestfinished', over);
  context.on('requestfailed', over);
  return () => [...open].filter((request) => !request.frame().page().isClosed()).length;
}

it('eight pages follow a log, and there is room for what is asked beside that', async () => {
  const { page, context, faults } = await visit(browser);
  const streams = streamsOf(context);
  await signIn(page, world, '/apps/shop/log');
  const pages = [page];
  while (pages.length < PAGES) {
    const next = await context.newPage();
    await next.goto(`${world.apiUrl}/dashboard/apps/shop/log`);
    await logOf(next).waitFor();
    pages.push(next);
  }
  await write('seen by all of them');
  for (const each of pages) await logOf(each).getByText('seen by all of them').waitFor();
  await expect.poll(streams).toBe(MOST_STREAMS);

  const beside = await context.newPage();
  await beside.goto(`${world.apiUrl}/dashboard`);
  await beside.getByRole('link', { name: 'shop' }).first().waitFor();

  for (const each of pages.splice(0, MOST_STREAMS)) await each.close();
  await expect.poll(streams).toBe(MOST_STREAMS);
  await write('and by those that are left');
  for (const each of pages) {
    await logOf(each).getByText('and by those that are left').waitFor();
    expect(await logOf(each).getByText('seen by all of them').count()).toBe(1);
  }
  expect(faults).toEqual([]);
  await context.close();
});
