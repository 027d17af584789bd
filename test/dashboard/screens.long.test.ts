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
  '/apps/shop/releases': /What changed/,
  '/apps/empty/releases': /no release yet/i,
  '/apps/shop/env': /CANARY/,
  '/apps/shop/timeline': /One by one/,
  '/apps/shop/terminal': /Open a shell/,
  '/apps/empty/terminal': /Nothing was deployed yet/,
  '/apps/shop/settings': /\/uploads/,
  '/deploys': /v1/,
  '/services': /No service yet/,
  '/instances/nothing': /not found/i,
  '/teams': /admin@example.com/,
  '/users': /admin@example.com/,
  '/account': /SSH keys/,
  '/certificates': /Authority/,
  '/drains': /drain\.example/,
  '/registries': /registry\.example/,
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
let eventId = '';

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
  await api('POST', '/apps/shop/volumes', { name: 'uploads' });
  await api('PUT', '/apps/shop/volumes/uploads/mount', { path: '/uploads' });
  await api('POST', '/drains', { app: 'shop', url: 'https://drain.example/' });
  await api('PUT', '/registries/registry.example', { user: 'puller<b>', password: 'secret' });
  // Refused, and noted with what was asked.
  await request(world.apiUrl, 'POST', `/users/${encodeURIComponent(CANARY)}/tokens`, { body: '{"password":"x"}' });
  deployId = (JSON.parse(await api('GET', '/deploys?app=shop')) as { ID: string }[]).at(-1)?.ID ?? '';
  eventId = (JSON.parse(await api('GET', '/events?limit=1')) as { UniqueID: string }[])[0]?.UniqueID ?? '';
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
beforeEach((context) => context.skip(WITHOUT_BROWSER !== '', WITHOUT_BROWSER));

/** Those whose address is known only now, too. */
function screens(): Readonly<Record<string, RegExp>> {
  return { ...SCREENS, [`/apps/shop/deploys/${deployId}`]: /serves at/, [`/audit/${eventId}`]: /About this event/ };
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
