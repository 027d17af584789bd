/**
 * Every screen, light and dark, on a phone and on a desk: it has content, breaks no rule of accessibility that axe knows, and nothing that
 * somebody has named becomes more than text.
 */
import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { match } from '../../src/dashboard/routing/match.ts';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { request, type World } from '../support/world.ts';
import { CANARY, FILE_NAME, MARKUP, type Populated, startPopulated } from './populated.ts';

/** What each screen shows of the populated platform. */
const SCREENS: Readonly<Record<string, RegExp>> = {
  '/': /shop/,
  '/new': /Platform/,
  '/apps/shop': /Processes and units/,
  '/apps/fresh': /Waiting for the first push/,
  '/apps/nobody': /not found/i,
  '/apps/shop/log': /Live/,
  '/apps/shop/deploys': /v1/,
  '/apps/shop/releases': /What changed/,
  '/apps/fresh/releases': /no release yet/i,
  '/apps/shop/env': /CANARY/,
  '/apps/shop/timeline': /One by one/,
  '/apps/shop/terminal': /Open a shell/,
  '/apps/fresh/terminal': /Nothing was deployed yet/,
  '/apps/shop/settings': /Unmount/,
  '/deploys': /v1/,
  '/services': /kept/,
  '/services/canaries': /Plans/,
  '/services/nothing': /not found/i,
  '/instances/kept': /Provider says/,
  '/instances/nothing': /not found/i,
  '/teams': /admin@example.com/,
  '/users': /admin@example.com/,
  '/account': /laptop/,
  '/certificates': /www\.example\.com/,
  '/drains': /drain\.example/,
  '/webhooks': /hook\.example/,
  '/webhooks/nothing': /no webhook/i,
  '/registries': /registry\.example/,
  '/pools': /default/,
  '/plans': /Memory/,
  '/platforms': /nodejs/,
  '/healers': /Name/,
  '/alerts': /app_down/,
  '/why': /host name/,
  '/why?address=shop.nowhere.example': /From the visitor/,
  '/audit': /app\.create/,
  '/health': /edge/,
  '/no/such/screen': /nothing at this address/,
};

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

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [populated, browser] = await Promise.all([startPopulated(), openBrowser()]);
  ({ world } = populated);
  // Refused, and noted with what was asked.
  await request(world.apiUrl, 'POST', `/users/${encodeURIComponent(CANARY)}/tokens`, { body: '{"password":"x"}' });
});
afterAll(async () => {
  await browser?.close();
  await populated?.dispose();
});
beforeEach((context) => context.skip(WITHOUT_BROWSER !== '', WITHOUT_BROWSER));

/** Those whose address is known only now, too. */
function screens(): Readonly<Record<string, RegExp>> {
  const { deploy, failed, event, webhook } = populated.ids;
  return {
    ...SCREENS,
    [`/apps/shop/deploys/${deploy}`]: /serves at/,
    [`/apps/shop/deploys/${failed}`]: /^Failed:/,
    [`/audit/${event}`]: /About this event/,
    [`/webhooks/${webhook}`]: /webhook\.test/,
  };
}

it('every screen of the dashboard is looked at', async () => {
  const source = await readFile(new URL('../../src/dashboard/routing/screens.ts', import.meta.url), 'utf8');
  const patterns = [...source.matchAll(/pattern: '([^']+)'/g)].map(([, pattern = '']) => pattern);
  expect(patterns.length).toBeGreaterThan(20);
  const unseen = patterns.filter((pattern) => !Object.keys(screens()).some((path) => match(pattern, path) !== null));
  expect(unseen).toEqual([]);
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Axe sets styles of its own, so the policy of the page is off for it. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate<{ violations: Violation[] }>('axe.run(document, { resultTypes: ["violations"] })');
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

describe.each([
  ['light', 1440],
  ['dark', 1440],
  ['light', 360],
  ['dark', 360],
] as const)('%s, %i pixels wide', (theme, width) => {
  it('every screen has content, no violation, no fault, and no sideways scrolling', async () => {
    const { page, context, faults } = await visit(browser, {
      width,
      height: 800,
      isDark: theme === 'dark',
      withoutPolicy: true,
    });
    await page.goto(`${world.apiUrl}/dashboard`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await signIn(page, world);
    const wrong: string[] = [];
    for (const [path, content] of Object.entries(screens())) {
      await page.goto(`${world.apiUrl}/dashboard${path}`);
      await page.locator('#main').getByText(content).first().waitFor();
      wrong.push(...(await violations(page)).map((each) => `${path} ${each}`));
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (isWide) wrong.push(`${path} scrolls sideways`);
    }
    expect(wrong).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  });
});

it('no screen breaks the policy of the page', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world);
  for (const [path, content] of Object.entries(screens())) {
    await page.goto(`${world.apiUrl}/dashboard${path}`);
    await page.locator('#main').getByText(content).first().waitFor();
  }
  expect(faults).toEqual([]);
  await context.close();
});

it.each(CANARIES)('$what is text, whatever it holds', async ({ at, text = CANARY, open, place = '#main' }) => {
  const { page, context, faults } = await visit(browser);
  await signIn(
    page,
    world,
    at.replace(/:(failed|deploy|webhook)$/, (_, id: keyof Populated['ids']) => populated.ids[id]),
  );
  if (open !== undefined) await page.getByRole('button', { name: open }).click();
  await expect.poll(() => shownText(page, place)).toContain(text);
  expect(await page.locator('img[src="x"], #app script').count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

/** With what stands in fields. */
function shownText(page: Page, place: string): Promise<string> {
  return page.evaluate<string>(
    `document.querySelector('${place}').textContent + [...document.querySelectorAll('#main :is(input, textarea)')].map((one) => one.value).join()`,
  );
}

it('the command palette goes everywhere by keyboard, and a dialog is one', async () => {
  const { page, context, faults } = await visit(browser, { withoutPolicy: true });
  await signIn(page, world);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('shop env');
  await page.getByRole('option', { name: 'shop env' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /^CANARY / }).waitFor();
  await page.getByRole('button', { name: 'Set variables' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('restart shop');
  await page.getByRole('option', { name: 'Restart shop' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Restart shop').waitFor();

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('shop terminal');
  await page.getByRole('option', { name: 'shop terminal' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Open a shell' }).press('Enter');
  await page.getByRole('group', { name: 'Shell in shop' }).locator('.xterm-rows').waitFor();
  await page.locator('#main').getByText('open', { exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

it('shows what somebody else does, and asks to sign in again when the session has ended elsewhere', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world);
  const token = await world.login();
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'of-somebody-else', platform: 'nodejs' }) });
  await page.getByRole('link', { name: /of-somebody-else/ }).waitFor();
  await page.goto(`${world.apiUrl}/dashboard/apps/shop/terminal`);
  await page.getByText('Run a command').waitFor();
  await world.api('DELETE', '/users/sessions', { token });
  await page.getByText('Your session has ended').waitFor();
  expect(new URL(page.url()).pathname).toBe('/dashboard/apps/shop/terminal');
  expect(faults).toEqual([]);
  await context.close();
});
