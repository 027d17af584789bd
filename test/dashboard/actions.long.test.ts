/** What is done in the dashboard by those who look after apps and the platform: each action, and what it says when it is refused. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fill, row, surely } from './by-hand.ts';
import { openBrowser, picture, signIn, type Visit, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { createIdentity, createWorkTree, nodeApp } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

const BEA = { email: 'bea@example.com', password: 'battery horse staple' };

let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  const token = await world.login();
  for (const name of ['shop', 'depot']) {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
  }
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

async function at(path: string): Promise<Visit> {
  const visited = await visit(browser);
  await signIn(visited.page, world, path);
  return visited;
}

async function go(page: Page, path: string): Promise<void> {
  await page.goto(`${world.apiUrl}/dashboard${path}`);
  await page.locator('#main h1').waitFor();
}

it('an app: volumes, links, domains, tokens, and what that changed in its releases', async () => {
  const { page, context, faults } = await at('/apps/shop/settings');
  await fill(page, 'New volume', { Name: 'Wrong Name' }, 'Create');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('uploads');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await row(page, /uploads not mounted/).waitFor();
  await fill(page, 'Mount uploads', { 'Where units see uploads': '/uploads' }, 'Mount');
  await row(page, /uploads \/uploads/).waitFor();
  await fill(page, 'Link an app', { App: 'depot' }, 'Link');
  await row(page, /depot\.internal/).waitFor();

  await go(page, '/apps/shop/releases');
  const changes = page.getByRole('region', { name: 'Compare' });
  await changes.getByRole('combobox', { name: 'From' }).selectOption('1');
  await row(page, /uploads volume added none \/uploads/).waitFor();
  expect(new URL(page.url()).search).toBe('?from=1');
  await picture(page, 'releases');

  await go(page, '/apps/shop/settings');
  await surely(page, 'Take away the link to depot', 'Take away');
  await row(page, /depot\.internal/).waitFor({ state: 'detached' });
  await surely(page, 'Unmount uploads', 'Unmount');
  await row(page, /uploads not mounted/).waitFor();
  await surely(page, 'Remove the volume uploads', 'Remove', 'uploads');
  await page.getByText('No volume yet').waitFor();
  await page.getByLabel('Maintenance: every request is answered 503').check();
  await page.getByRole('button', { name: 'Save the treatment of requests' }).click();
  await expect.poll(async () => (await world.fetchApp('shop')).status).toBe(503);
  await page.getByLabel('Maintenance: every request is answered 503').uncheck();
  await page.getByRole('button', { name: 'Save the treatment of requests' }).click();
  await expect.poll(async () => (await world.fetchApp('shop')).status).toBe(200);
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByText('The new token is shown only now.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

it('the platform: pools, plans, platforms, drains, registries, certificates, healers', async () => {
  const { page, context, faults } = await at('/pools');
  await fill(page, 'New pool', { Name: 'fast' }, 'Create');
  await row(page, /fast no team/).waitFor();
  await surely(page, 'Remove the pool fast', 'Remove');
  await row(page, /fast/).waitFor({ state: 'detached' });

  await go(page, '/platforms');
  await page.getByRole('button', { name: 'Disable static' }).click();
  await row(page, /static .* disabled/).waitFor();
  await page.getByRole('button', { name: 'Enable static' }).click();
  await row(page, /static .* ready/).waitFor();

  await go(page, '/drains');
  await fill(page, 'New drain', { URL: 'nonsense' }, 'Create');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByRole('dialog').getByLabel('URL', { exact: true }).fill('https://drain.example/in');
  await page.getByRole('dialog').getByLabel('Headers', { exact: true }).fill('X-Key: secret canary');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await row(page, /drain\.example/).waitFor();
  expect(await page.locator('#main').textContent()).not.toContain('secret canary');
  await page.getByRole('button', { name: /^Test the drain to/ }).click();
  await page
    .getByRole('region', { name: 'News' })
    .getByText(/drain\.example|receiver|resolved|reached/i)
    .first()
    .waitFor();
  await page.getByRole('button', { name: /^Remove the drain/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No drain yet').waitFor();

  await go(page, '/registries');
  await fill(page, 'New login', { Registry: 'registry.example', User: 'puller', 'Password or token': 'x y' }, 'Keep');
  await row(page, /registry\.example/).waitFor();
  await surely(page, 'Forget the login at registry.example', 'Forget');
  await page.getByText('No login yet').waitFor();

  await go(page, '/certificates');
  await fill(page, 'Upload a certificate', { Certificate: 'no PEM', Key: 'no PEM' }, 'Upload');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.keyboard.press('Escape');

  await go(page, '/backups');
  await page.getByText('backup.directory: /srv/backups').waitFor();
  expect(await page.getByRole('button', { name: 'Make one now' }).count()).toBe(0);

  await go(page, '/healers');
  await page
    .getByRole('button', { name: /^Run now/ })
    .first()
    .click();
  await page.getByRole('heading', { name: /^What .* saw/ }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

it('two people at once: what one does appears for the other, and what is not theirs is refused in words', async () => {
  const admin = await at('/users');
  await world.api('POST', '/users', { body: JSON.stringify(BEA), token: await world.login() });
  await row(admin.page, /bea@example\.com/).waitFor();
  const bea = await visit(browser);
  await signIn(bea.page, world, '/', BEA);
  await go(bea.page, '/apps/shop');
  await bea.page.getByRole('alert').first().waitFor();
  const identity = await createIdentity();
  await go(bea.page, '/account');
  await fill(bea.page, 'Add a key', { 'Public key': identity.publicKey, Name: 'laptop' }, 'Add');
  await row(bea.page, /laptop/).waitFor();
  await identity.dispose();

  await go(bea.page, '/teams');
  await fill(bea.page, 'New team', { Name: 'bakers' }, 'Create');
  await bea.page.getByRole('heading', { name: 'bakers' }).waitFor();
  await go(admin.page, '/teams');
  await admin.page.getByRole('heading', { name: 'bakers' }).waitFor();
  await go(admin.page, '/apps/shop/settings');
  await fill(admin.page, 'Give a team access', { Team: 'bakers' }, 'Give access');
  await row(admin.page, /^bakers/).waitFor();

  await go(bea.page, '/apps/shop/env');
  await go(admin.page, '/apps/shop/env');
  await admin.page.getByRole('button', { name: 'Set variables' }).click();
  await admin.page.getByRole('textbox', { name: 'Variables' }).fill('SEEN=by-both');
  await admin.page.getByRole('button', { name: /^Set 1 variable/ }).click();
  await row(bea.page, /SEEN/).waitFor();
  expect([...admin.faults, ...bea.faults]).toEqual([]);
  await Promise.all([admin.context.close(), bea.context.close()]);
});
