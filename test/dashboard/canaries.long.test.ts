/** What anybody can name, or a server elsewhere can say, never becomes more than text: wherever it is shown, and on every screen. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, type Visit, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import type { World } from '../support/world.ts';
import { CANARY, FILE_NAME, MARKUP, type Populated, startPopulated } from './populated.ts';
import { screens } from './screens.ts';

/** What somebody has named, wherever that can be done freely, and where it is shown. */
const CANARIES: readonly {
  readonly what: string;
  readonly at: string;
  readonly text?: string;
  /** Of a button that has to be clicked first. */
  readonly open?: string | RegExp;
  /** Where it is shown; absent: on the screen itself. */
  readonly place?: string;
}[] = [
  { what: 'description of an app', at: '/apps/shop' },
  { what: 'value of a variable', at: '/apps/shop/env' },
  { what: 'variable of a provider', at: '/apps/shop/env', open: 'Show the value of CANARY_OF_PROVIDER' },
  { what: 'value in a comparison of releases', at: '/apps/shop/releases?from=2&to=' },
  { what: 'line of the log', at: '/apps/shop/log?search=img' },
  { what: 'search of the log', at: `/apps/shop/log?search=${encodeURIComponent(CANARY)}` },
  { what: 'file name in a failure report', at: '/apps/shop/deploys/:failed', text: FILE_NAME },
  { what: 'what a provider says of itself', at: '/instances/kept' },
  { what: 'documentation of a service', at: '/services/canaries' },
  { what: 'name of a plan', at: '/services/canaries', text: MARKUP },
  { what: 'name of a key', at: '/account' },
  // Names are shown as RFC 4514 has them, with their < and > escaped.
  { what: 'issuer of a certificate', at: '/certificates', text: String.raw`\<img src=x onerror=alert(1)` },
  { what: 'what the receiver of a webhook answers', at: '/webhooks/:webhook' },
  { what: 'what the receiver of a drain answers', at: '/drains?app=depot', open: /^Test the drain/, place: '.toasts' },
  { what: 'why a backup failed', at: '/backups', text: FILE_NAME },
  { what: 'message of an alert', at: '/alerts', text: FILE_NAME },
  { what: 'page of an app under maintenance', at: '/apps/shop/settings' },
  { what: 'changed code', at: '/apps/shop/deploys/:deploy' },
  { what: 'address that is looked into', at: `/why?address=${encodeURIComponent(CANARY)}` },
  { what: 'name of a service in the address', at: `/services/${encodeURIComponent(CANARY)}` },
  { what: 'user of a registry', at: '/registries', text: MARKUP },
  { what: 'description of a platform', at: '/platforms' },
  { what: 'filter in the address', at: `/audit?app=${encodeURIComponent(CANARY)}` },
  { what: 'name of an app in the address', at: `/apps/${encodeURIComponent(CANARY)}` },
  { what: 'name of an instance in the address', at: `/instances/${encodeURIComponent(CANARY)}` },
];

let populated: Populated;
let world: World;
let browser: Browser;
let own: Visit;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [populated, browser] = await Promise.all([startPopulated(), openBrowser()]);
  ({ world } = populated);
  await populated.breakBackups();
  own = await visit(browser);
  await signIn(own.page, world);
});
afterAll(async () => {
  await browser?.close();
  await populated?.dispose();
});
needsBrowser(() => world);

it.each(CANARIES)('$what is text, whatever it holds', async ({ at, text = CANARY, open, place = '#main' }) => {
  const { page, faults } = own;
  const path = at.replace(/:(failed|deploy|webhook)$/, (_, id: keyof Populated['ids']) => populated.ids[id]);
  await page.goto(`${world.apiUrl}/dashboard${path}`);
  if (open !== undefined) await page.getByRole('button', { name: open }).click();
  await expect.poll(() => shownText(page, place)).toContain(text);
  expect(await page.locator('img[src="x"], #app script').count()).toBe(0);
  expect(faults).toEqual([]);
});

/** Without them a screen has nothing to say: dates, and who looks at it. */
const NEEDED = /^\d{4}-\d\d-\d\dT|^admin@example\.com$/;
const LINK = `javascript:alert(5)//${CANARY}`;

/** These show nothing of what is stored, but names of healers, which are names of fields. */
const WITHOUT = new Set(['/healers', '/why', '/no/such/screen']);

/** Each text of an answer becomes the canary, or ends in it; each address becomes one that would run. */
function withCanaries(value: unknown): unknown {
  if (typeof value === 'string') {
    if (NEEDED.test(value)) return value;
    return /^https?:/.test(value) ? LINK : value + CANARY;
  }
  if (Array.isArray(value)) return value.map(withCanaries);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withCanaries(one)]));
}

it('whatever the server says is text on every screen, where states, reasons and addresses are canaries too, and none breaks the policy of the page', async () => {
  const { page, faults } = own;
  await page.route('**/dashboard/api/**', async (route) => {
    if (route.request().method() !== 'GET' || route.request().url().includes('follow=1')) return route.fallback();
    const response = await route.fetch();
    const isJson = response.headers()['content-type']?.includes('json') === true;
    const text = await response.text();
    await route.fulfill({
      response,
      body: isJson ? JSON.stringify(withCanaries(JSON.parse(text))) : text + CANARY,
    });
  });
  const wrong: string[] = [];
  for (const path of Object.keys(screens(populated))) {
    await page.goto(`${world.apiUrl}/dashboard${path}`);
    await page.locator('#main h1').waitFor();
    await page.locator('#main .waiting').first().waitFor({ state: 'detached' });
    // What a screen asks for at last may come after all that it was seen to wait for.
    if (!WITHOUT.has(path)) await expect.poll(() => shownText(page, '#main'), { message: path }).toContain(CANARY);
    const made = await page.locator('img[src="x"], #app script, a[href^="javascript:" i]').count();
    if (made > 0 || faults.length > 0) wrong.push(`${path} ${made} ${faults.splice(0).join()}`);
  }
  expect(wrong).toEqual([]);
  await page.unrouteAll({ behavior: 'wait' });
});

/** With what stands in fields. */
function shownText(page: Page, place: string): Promise<string> {
  return page.evaluate<string>(
    `document.querySelector('${place}').textContent + [...document.querySelectorAll('#main :is(input, textarea)')].map((one) => one.value).join()`,
  );
}
