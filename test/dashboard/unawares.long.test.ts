/** What nobody is to do, lose or miss unawares: each is asked, said or left as it was. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { startWorld, type World } from '../support/world.ts';
import { row } from './by-hand.ts';

const BEA = { email: 'bea@example.com', password: 'of-bea' };

let world: World;
let browser: Browser;
let token: string;
let page: Page;
let context: BrowserContext;
let faults: readonly string[];

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  token = await world.login();
  await api('POST', '/users', BEA);
  await api('POST', '/teams', { name: 'crew' });
  await api('POST', '/apps', { name: 'shop', platform: 'nodejs' });
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
needsBrowser(() => world);
beforeEach(async () => {
  if (WITHOUT_BROWSER === '') ({ page, context, faults } = await visit(browser));
});
afterEach(async () => {
  if (WITHOUT_BROWSER !== '') return;
  expect(faults).toEqual([]);
  await context.close();
});

async function api(method: string, path: string, body?: unknown): Promise<void> {
  const { status, text } = await world.api(method, path, {
    token,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
}

const news = () => page.getByRole('region', { name: 'News' });

it('a private variable stays private when it is pasted among others, and what becomes public is listed', async () => {
  await api('POST', '/apps/shop/env?private=true&noRestart=true', { KEY: 'hush' });
  await signIn(page, world, '/apps/shop/env');
  await page.getByRole('button', { name: 'Set variables' }).click();
  const isPrivate = page.getByRole('checkbox', { name: /^Private/ });
  expect(await isPrivate.isChecked()).toBe(false);
  await page.getByRole('textbox', { name: 'Variables' }).fill('KEY=hush\nCOLOUR=red');
  await expect.poll(() => isPrivate.isChecked()).toBe(true);
  await isPrivate.uncheck();
  const changes = page.getByRole('list', { name: 'What changes' });
  await changes.getByText('public from now on').waitFor();
  await isPrivate.check();
  await page.getByRole('button', { name: 'Set 1 variable' }).click();
  await row(page, /COLOUR .*private/).waitFor();
  await row(page, /KEY .*private/).waitFor();
});

it('of a first app and its team each name can be corrected', async () => {
  await signIn(page, world, '/new', BEA);
  const [app, team] = ['Name', 'Name of your team'].map((name) => page.getByRole('textbox', { name, exact: true }));
  const create = async (names: readonly [string, string], wrong: string) => {
    await app?.fill(names[0]);
    await team?.fill(names[1]);
    await page.getByRole('button', { name: 'Create app' }).click();
    await page.locator(`[aria-invalid][name=${wrong}]`).waitFor();
  };
  expect(await team?.inputValue()).toBe('bea');
  await create(['My App', 'crew'], 'newTeam');
  await create(['My App', 'bakers'], 'name');
  await app?.fill('my-app');
  await page.getByRole('button', { name: 'Create app' }).click();
  await page.getByRole('heading', { name: 'my-app', exact: true }).waitFor();
});

it('who removes an app reads which volumes go with it', async () => {
  await api('POST', '/apps/shop/volumes', { name: 'uploads' });
  await signIn(page, world, '/apps/shop/settings');
  await page.getByRole('button', { name: 'Remove shop' }).click();
  await page
    .getByRole('dialog')
    .getByText(/its volumes with all that they hold: uploads/)
    .waitFor();
});

it('a form that was closed while it was being sent says that it failed', async () => {
  await signIn(page, world, '/teams');
  let refuse = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    void page.route('**/dashboard/api/teams', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      const refused = new Promise<void>((now) => (refuse = now));
      resolve();
      await refused;
      const problem = { detail: 'There are enough.', code: 'quota.exceeded' };
      await route.fulfill({ status: 403, contentType: 'application/problem+json', body: JSON.stringify(problem) });
    });
  });
  await page.getByRole('button', { name: 'New team' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('more');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await asked;
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  refuse();
  await news().getByText('There are enough.').waitFor();
});

it('the quota of a user begins with what it is', async () => {
  await api('PUT', `/users/${BEA.email}/quota`, { limit: 7 });
  await signIn(page, world, '/users');
  await page.getByRole('button', { name: `Quota of ${BEA.email}` }).click();
  expect(await page.getByLabel(`Apps that ${BEA.email} may own`).inputValue()).toBe('7');
});

it('"stop" alone stops no app', async () => {
  await page.route('**/dashboard/api/apps', async (route) => {
    const response = await route.fetch();
    const apps = (await response.json()) as object[];
    await route.fulfill({ response, json: apps.map((app) => ({ ...app, State: 'started' })) });
  });
  await signIn(page, world);
  await page.keyboard.press('Control+k');
  const wanted = page.getByRole('combobox', { name: 'Go to' });
  await wanted.fill('stop shop');
  await page.getByRole('option', { name: 'Stop shop' }).waitFor();
  await wanted.fill('stop');
  await page.getByRole('option', { name: /^Nothing/ }).waitFor();
});

it('an upload that is refused while somebody else deploys says so', async () => {
  await signIn(page, world, '/apps/shop/deploys');
  const theirs = { ID: 'theirs', App: 'shop', Origin: 'git', User: BEA.email };
  let looks = 0;
  let refuse = (): void => undefined;
  const refused = new Promise<void>((now) => (refuse = now));
  await page.route(/\/api\/deploys\?app=shop&limit=20$/, async (route) => {
    // While it is being sent the server may be away for a moment, too.
    if (looks === 1) await route.abort();
    else await route.fulfill({ json: looks === 0 ? [] : [theirs] });
    looks += 1;
    if (looks > 3) refuse();
  });
  await page.route('**/dashboard/api/apps/shop/deploy?*', async (route) => {
    await refused;
    const problem = { detail: 'That is too much.', code: 'input.too_large' };
    await route.fulfill({ status: 413, contentType: 'application/problem+json', body: JSON.stringify(problem) });
  });
  const file = { name: 'code.tar.gz', mimeType: 'application/gzip', buffer: Buffer.from('code') };
  await page.getByLabel('Archive', { exact: true }).first().setInputFiles(file);
  await news().getByText('That is too much.').waitFor();
  expect(new URL(page.url()).pathname).toBe('/dashboard/apps/shop/deploys');
});

it('the members of many teams are asked for where somebody wants to see them', async () => {
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(new URL(request.url()).pathname));
  for (let n = 0; n < 13; n += 1) await api('POST', '/teams', { name: `many-${n}` });
  await signIn(page, world, '/teams');
  await page.getByRole('button', { name: 'Members of many-7', exact: true }).click();
  await row(page, new RegExp(world.adminEmail)).waitFor();
  expect([...asked].filter((path) => path.includes('/api/teams/'))).toEqual(['/dashboard/api/teams/many-7']);
});
