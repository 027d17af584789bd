/** Every screen for who may not see it, and while the server, or what stands before it, cannot answer: it says so in words, with what to do. */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { type Populated, startPopulated } from './populated.ts';
import { screens } from './screens.ts';

const STRANGER = { email: 'stranger@example.com', password: 'battery horse staple' };

/** What comes in place of what the API says. */
const ANSWERS: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  'a platform that is being started': (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        code: 'unavailable',
        detail: 'It is being started.',
        hint: 'Wait a moment.',
        status: 503,
      }),
    }),
  'a proxy that reaches nobody': (route) =>
    route.fulfill({ status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' }),
  'a proxy with a login of its own': (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<html><h1>Sign in to continue</h1></html>' }),
  'documents of somebody else': (route) =>
    route.fulfill({ status: 500, contentType: 'application/json', body: '{"message":"upstream"}' }),
  nobody: (route) => route.abort('connectionrefused'),
};

let populated: Populated;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [populated, browser] = await Promise.all([startPopulated(), openBrowser()]);
  const body = JSON.stringify(STRANGER);
  await populated.world.api('POST', '/users', { token: populated.token, body });
});
afterAll(async () => {
  await browser?.close();
  await populated?.dispose();
});
needsBrowser(() => populated?.world);

/** As a link does: what is around the screen stays. */
async function show(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/dashboard${path}`)}); dispatchEvent(new PopStateEvent('popstate'));`,
  );
  await expect.poll(() => page.evaluate<string>('location.pathname + location.search')).toBe(`/dashboard${path}`);
  await page.locator('#main h1').waitFor();
  await page.locator('#main .waiting').first().waitFor({ state: 'detached' });
}

/** What is said there that is no words, or leaves one alone with them. */
async function unhelpful(page: Page, path: string): Promise<string[]> {
  const text = (await page.locator('#main').textContent()) ?? '';
  const found: string[] = [];
  const [nonsense] = /undefined|\[object|NaN|null,|[{<]"?html|TypeError|is not a function/.exec(text) ?? [];
  if (nonsense !== undefined) found.push(`${path} says ${nonsense}`);
  for (const alert of await page.locator('#main [role="alert"]').all()) {
    const said = (await alert.locator('.stack > *').allTextContents()).filter((line) => line.trim() !== '');
    if (said.length < 2) found.push(`${path} says no more than ${said.join()}`);
  }
  return found;
}

it('a viewer without rights sees on every screen what is missing, and what to do', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, populated.world, '', STRANGER);
  const wrong: string[] = [];
  let refusals = 0;
  for (const path of Object.keys(screens(populated))) {
    await show(page, path);
    refusals += await page.locator('#main [role="alert"]').count();
    wrong.push(...(await unhelpful(page, path)));
  }
  expect(refusals).toBeGreaterThan(10);
  expect(wrong).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

it.each(Object.entries(ANSWERS))('in place of the server answers %s: every screen says so', async (_what, answer) => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, populated.world);
  await show(page, '/no/such/screen');
  await page.route('**/dashboard/api/**', answer);
  const wrong: string[] = [];
  for (const path of Object.keys(screens(populated))) {
    await show(page, path);
    const isReported = (await page.locator('#main [role="alert"]').count()) > 0;
    const asksNothing = /^\/(?:new|why|no\/such\/screen)$|terminal/.test(path);
    if (!isReported && !asksNothing) wrong.push(`${path} says nothing`);
    wrong.push(...(await unhelpful(page, path)));
  }
  expect(wrong).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});
