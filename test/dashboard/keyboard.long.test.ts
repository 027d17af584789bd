/** Everything by keyboard: on every screen with an action, all that can be done is reached by Tab, and an action is done without a pointer. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { ACTIONS } from './actions.ts';
import { type Populated, startPopulated } from './populated.ts';

/** Lanes of the timeline and marks in charts are left out of the order: a table beside them leads to the same. */
const REACHABLE = 'a[href], button:not(:disabled), input, select, textarea, summary, [tabindex="0"]';
const MOST_TABS = 400;

let populated: Populated;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [populated, browser] = await Promise.all([startPopulated(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await populated?.dispose();
});
needsBrowser(() => populated?.world);

const FOCUSED = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return false;
  const isAgain = one.dataset.reached !== undefined;
  one.dataset.reached = '';
  return !isAgain;
})()`;
const LEFT_OUT = `[...document.querySelectorAll('#main :is(${REACHABLE})')]
  .filter((one) => one.dataset.reached === undefined && one.tabIndex >= 0 && one.checkVisibility())
  .map((one) => one.outerHTML.slice(0, 120))`;

const FORGET = `for (const one of document.querySelectorAll('[data-reached]')) delete one.dataset.reached`;
/** A page draws anew what has changed while somebody goes through it. */
const ROUNDS = 5;

/** What Tab never reached. */
async function missedOn(page: Page): Promise<string[]> {
  for (let round = 1; ; round += 1) {
    await tabThrough(page);
    const missed = await page.evaluate<string[]>(LEFT_OUT);
    if (missed.length === 0 || round === ROUNDS) return missed;
  }
}

/** From the top of the page, until it begins anew. */
async function tabThrough(page: Page): Promise<void> {
  await page.evaluate(FORGET);
  // The first thing there is; what has the focus by itself may stand in the middle.
  await page.locator('.skip').focus();
  for (let n = 0; n < MOST_TABS; n += 1) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate<boolean>(FOCUSED))) return;
  }
}

it('Tab reaches everything on every screen with an action', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, populated.world);
  const missed: string[] = [];
  for (const at of new Set(ACTIONS.map((action) => action.at.replace(':webhook', populated.ids.webhook)))) {
    await page.goto(`${populated.world.apiUrl}/dashboard${at}`);
    for (const action of ACTIONS.filter((one) => one.at === at)) {
      const name = typeof action.button === 'string' ? { name: action.button, exact: true } : { name: action.button };
      await page.locator('#main').getByRole('button', name).first().waitFor();
    }
    missed.push(...(await missedOn(page)).map((one) => `${at} ${one}`));
  }
  expect(missed).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

/** Tab until that has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let n = 0; n < MOST_TABS; n += 1) {
    const found = await page.evaluate<string>(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()`,
    );
    if (found === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${name}`);
}

it('a team is made and removed with the keyboard alone, and the focus comes back to where it was', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, populated.world);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('teams');
  await page.getByRole('option', { name: 'Teams' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'bakers' }).waitFor();
  await tabTo(page, 'New team');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('typists');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'typists' }).waitFor();
  expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('New team');
  await tabTo(page, 'Remove the team typists');
  await page.keyboard.press('Space');
  await page.getByRole('dialog').waitFor();
  await tabTo(page, 'Remove');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'typists' }).waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await context.close();
});
