/** Every screen, light and dark, on a phone and on a desk: it has content, and breaks no rule of accessibility that axe knows. */
import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { match } from '../../src/dashboard/routing/match.ts';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import type { World } from '../support/world.ts';
import { type Populated, startPopulated } from './populated.ts';
import { screens } from './screens.ts';

let populated: Populated;
let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [populated, browser] = await Promise.all([startPopulated(), openBrowser()]);
  ({ world } = populated);
});
afterAll(async () => {
  await browser?.close();
  await populated?.dispose();
});
needsBrowser(() => world);

it('every screen of the dashboard is looked at', async () => {
  const source = await readFile(new URL('../../src/dashboard/routing/screens.ts', import.meta.url), 'utf8');
  const patterns = [...source.matchAll(/pattern: '([^']+)'/g)].map(([, pattern = '']) => pattern);
  expect(patterns.length).toBeGreaterThan(20);
  const unseen = patterns.filter(
    (pattern) => !Object.keys(screens(populated)).some((path) => match(pattern, path) !== null),
  );
  expect(unseen).toEqual([]);
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

type Rules = { readonly runOnly?: { readonly type: 'rule'; readonly values: readonly string[] } };
/** What else axe looks at is the same in light and dark. */
const COLOURS: Rules = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/** Axe sets styles of its own, so the policy of the page is off for it. */
async function violations(page: Page, rules: Rules = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ['violations'], ...rules });
  const found = await page.evaluate<{ violations: Violation[] }>(`axe.run(document, ${options})`);
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  );
}

const WIDE = 1440;

it.each([WIDE, 360])(
  'every screen has content, no violation in light or dark, no fault, and no sideways scrolling: %i pixels wide',
  async (width) => {
    const { page, context, faults } = await visit(browser, { width, height: 800, withoutPolicy: true });
    const wrong: string[] = [];
    const look = async (path: string): Promise<void> => {
      await page.emulateMedia({ colorScheme: 'light' });
      wrong.push(...(await violations(page)).map((each) => `${path} ${each}`));
      // Of any width the colours are the same.
      if (width === WIDE) {
        await page.emulateMedia({ colorScheme: 'dark' });
        wrong.push(...(await violations(page, COLOURS)).map((each) => `${path} in the dark ${each}`));
      }
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (isWide) wrong.push(`${path} scrolls sideways`);
    };
    await page.goto(`${world.apiUrl}/dashboard`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await look('before signing in');
    await signIn(page, world);
    for (const [path, content] of Object.entries(screens(populated))) {
      await page.goto(`${world.apiUrl}/dashboard${path}`);
      await page.locator('#main').getByText(content).first().waitFor();
      await look(path);
    }
    expect(wrong).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  },
);

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
  await page.getByRole('combobox', { name: 'Go to' }).fill('kept');
  await page.getByRole('option', { name: 'Instance kept' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'kept' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('start idle');
  await page.getByRole('option', { name: 'Start idle' }).waitFor();
  expect(await page.getByRole('option').count()).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

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
