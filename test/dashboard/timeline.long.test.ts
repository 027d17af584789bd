/** One axis of time: what happened to an app, with the way from each mark to the deploy, the event and the log of that time. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAKES_PICTURES, openBrowser, picture, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { createWorkTree, nodeApp } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  const token = await world.login();
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
  const tree = await createWorkTree(nodeApp('hello'));
  const pushed = await world.cli(['deploy', tree.dir, '-a', 'shop']);
  expect(pushed.code, pushed.stderr).toBe(0);
  await tree.dispose();
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
needsBrowser(() => world);

/** So that there is something to see: two minutes of visitors, with a change and a deploy among them. */
async function beLively(): Promise<void> {
  const token = await world.login();
  const tree = await createWorkTree(nodeApp('hello again'));
  for (let second = 0; second < 110; second += 1) {
    const over = new Promise((resolve) => setTimeout(resolve, 1_000));
    const visitors = Math.round(9 + 6 * Math.sin(second / 11) + 3 * Math.random());
    await Promise.all(Array.from({ length: visitors }, () => world.fetchApp('shop')));
    if (second === 40)
      await world.api('POST', '/apps/shop/env', { token, body: JSON.stringify({ GREETING: 'hello' }) });
    if (second === 70) await world.cli(['deploy', tree.dir, '-a', 'shop']);
    await over;
  }
  await tree.dispose();
}

it('leads from its marks to the deploy, the event and the log, and keeps its range in the address', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/apps/shop');
  const vitals = page.getByRole('link', { name: /^Requests per second/ });
  await expect.poll(() => vitals.textContent()).toMatch(/Memory\d[\d.]* MiB/);
  await vitals.click();
  await expect.poll(() => new URL(page.url()).pathname).toBe('/dashboard/apps/shop/timeline');
  expect(new URL(page.url()).search).toBe('?since=15m');
  const lanes = page.locator('.lanes');
  await lanes.locator('.mark.good').first().waitFor();
  // Measured twice, ten seconds apart, before there is a line to draw.
  await page.getByRole('img', { name: /^Memory over time/ }).waitFor();
  for (let n = 0; n < 40; n += 1) await world.fetchApp('shop');
  await expect
    .poll(() => page.getByRole('img', { name: /^Requests per second/ }).getAttribute('aria-label'))
    .not.toMatch(/answered: 0\.0/);

  await page.getByRole('button', { name: 'Zoom in' }).click();
  await expect.poll(() => new URL(page.url()).search).toMatch(/^\?from=.*&to=/);
  await page.getByRole('button', { name: 'Later' }).click();
  await lanes.locator('.mark.good').first().waitFor();
  if (MAKES_PICTURES) await beLively();
  const now = Date.now();
  const part = new URLSearchParams({ from: new Date(now - 120_000).toISOString(), to: new Date(now).toISOString() });
  await page.goto(`${world.apiUrl}/dashboard/apps/shop/timeline?${part}`);
  await lanes.locator('.mark.good').first().waitFor();
  await picture(page, 'timeline');
  await page.getByRole('combobox', { name: 'The last' }).waitFor();
  expect(await page.getByRole('combobox', { name: 'The last' }).inputValue()).toBe('');

  // A part of a chart is chosen with the pointer.
  const before = new URL(page.url()).search;
  const over = page.getByRole('img', { name: /^Requests per second over time/ }).locator('.u-over');
  await over.scrollIntoViewIfNeeded();
  const chart = await over.boundingBox();
  if (chart === null) throw new Error('there is no chart');
  await page.mouse.move(chart.x + chart.width * 0.3, chart.y + 20);
  // What was measured then is shown beside the chart, and beside the others.
  const said = page.getByRole('region', { name: 'Memory' }).locator('figcaption');
  await page.mouse.move(chart.x + chart.width * 0.94, chart.y + 20);
  await expect.poll(() => said.textContent()).toMatch(/all units: .+ \w{3} \d{4}, \d\d:\d\d:\d\d$/);
  await page.mouse.move(chart.x + chart.width * 0.3, chart.y + 20);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width * 0.95, chart.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => new URL(page.url()).search).not.toBe(before);
  await page.goBack();
  await expect.poll(() => new URL(page.url()).search).toBe(before);

  await page.getByRole('combobox', { name: 'The last' }).selectOption('365d');
  await lanes.locator('.mark.good').first().waitFor();
  await page.getByRole('combobox', { name: 'The last' }).selectOption('15m');
  await page.goto(page.url());
  await lanes.locator('.bar').first().click();
  const log = page.getByRole('log', { name: 'Log', exact: true });
  await expect.poll(() => log.textContent()).toContain('asked for /');
  await page.getByText('As it was then').waitFor();
  await page.goBack();
  await lanes.locator('.mark.good').first().click();
  await page.getByRole('heading', { name: /^Deploys \/ v\d/ }).waitFor();
  await page.goBack();
  const created = page.getByRole('row', { name: /app\.create/ });
  await created.getByRole('link').click();
  await page.getByRole('heading', { name: 'app.create' }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/dashboard\/audit\//);
  expect(faults).toEqual([]);
  await context.close();
});
