/**
 * Every screen, light and dark, on a phone and on a desk: it has content, breaks no rule of accessibility that axe knows, and nothing that
 * somebody has named becomes more than text.
 */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { request, startWorld, type World } from '../support/world.ts';
import { createWorkTree, nodeApp } from '../support/git.ts';

/** Runs when it is ever taken for HTML; the page tells of every dialog. */
const CANARY = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>';
const SCREENS: Readonly<Record<string, RegExp>> = {
  '/': /shop/,
  '/new': /Platform/,
  '/apps/shop': /Processes and units/,
  '/apps/empty': /Waiting for the first push/,
  '/apps/nobody': /not found/i,
  '/apps/shop/log': /Live/,
  '/apps/shop/deploys': /v1/,
  '/apps/shop/env': /CANARY/,
  '/apps/shop/metrics': /The last/,
  '/apps/shop/terminal': /Run a command/,
  '/apps/shop/settings': /Domains/,
  '/deploys': /v1/,
  '/services': /No service yet/,
  '/teams': /admin@example.com/,
  '/users': /admin@example.com/,
  '/account': /SSH keys/,
  '/pools': /default/,
  '/plans': /Memory/,
  '/platforms': /nodejs/,
  '/healers': /Name/,
  '/audit': /app\.create/,
  '/health': /Version/,
  '/no/such/screen': /nothing at this address/,
};

let world: World;
let browser: Browser;
let deployId = '';

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  const token = await world.login();
  const api = async (method: string, path: string, body?: unknown): Promise<string> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { status, text: answer } = await world.api(method, path, {
      token,
      ...(body !== undefined && { body: text }),
    });
    expect(status, `${method} ${path}: ${answer}`).toBe(200);
    return answer;
  };
  await api('POST', '/apps', { name: 'shop', platform: 'nodejs', description: CANARY });
  await api('POST', '/apps', { name: 'empty', platform: 'nodejs', description: CANARY });
  const tree = await createWorkTree(nodeApp('hello'));
  const pushed = await world.cli(['deploy', tree.dir, '-a', 'shop', '-m', CANARY]);
  expect(pushed.code, pushed.stderr).toBe(0);
  await tree.dispose();
  await api('POST', '/apps/shop/env', { CANARY });
  await api('POST', '/apps/shop/log', [CANARY]);
  // Refused, and noted with what was asked.
  await request(world.apiUrl, 'POST', `/users/${encodeURIComponent(CANARY)}/tokens`, { body: '{"password":"x"}' });
  deployId = (JSON.parse(await api('GET', '/deploys?app=shop')) as { ID: string }[]).at(-1)?.ID ?? '';
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
beforeEach((context) => context.skip(WITHOUT_BROWSER !== '', WITHOUT_BROWSER));

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
    for (const [path, content] of Object.entries({ ...SCREENS, [`/apps/shop/deploys/${deployId}`]: /serves at/ })) {
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
  for (const [path, content] of Object.entries(SCREENS)) {
    await page.goto(`${world.apiUrl}/dashboard${path}`);
    await page.locator('#main').getByText(content).first().waitFor();
  }
  expect(faults).toEqual([]);
  await context.close();
});

it('the command palette goes everywhere by keyboard, and a dialog is one', async () => {
  const { page, context, faults } = await visit(browser, { withoutPolicy: true });
  await signIn(page, world);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).fill('shop env');
  await page.getByRole('option', { name: 'shop env' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('row', { name: /CANARY/ }).waitFor();
  await page.getByRole('button', { name: 'Set variables' }).click();
  await page.getByRole('dialog').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
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
