/** What the owners of services and the admins of a platform do in the dashboard, against a real server, each to its end. */
import { mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningProvider, serveProvider } from '../../src/providers/serve.ts';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { testCertificate } from '../support/test-certificates.ts';
import { startWorld, type World } from '../support/world.ts';
import { fill, row, surely } from './by-hand.ts';

const PROVIDER = { username: 'provider', password: 'of-the-provider' };
const DEFINITION =
  'description: first words\nexample: run-it\ndetect: [app.mine]\nprocesses:\n  - { name: web, command: run-it }\n';

let world: World;
let browser: Browser;
let provider: RunningProvider;
let disk: string;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  disk = await mkdtemp(join(tmpdir(), 'tancho-administration-'));
  const env = { TANCHO_BACKUP_DIRECTORY: join(disk, 'backups'), TANCHO_BACKUP_EVERY: '0' };
  [world, browser, provider] = await Promise.all([
    startWorld({ env: { TANCHO_TLS_LISTEN: '127.0.0.1:0', TANCHO_CERTIFICATES_LOOK: 'off', ...env } }),
    openBrowser(),
    startProvider(),
  ]);
  const token = await world.login();
  await world.api('POST', '/teams', { token, body: JSON.stringify({ name: 'bakers' }) });
  for (const name of ['shop', 'depot']) {
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name, platform: 'nodejs' }) });
  }
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
  await provider?.stop();
  if (disk !== undefined) await rm(disk, { recursive: true, force: true });
});
needsBrowser(() => world);

function startProvider(): Promise<RunningProvider> {
  return serveProvider({
    ...{ host: '127.0.0.1', port: 0, ...PROVIDER },
    handlers: {
      plans: async () => [{ name: 'small', description: 'enough for one' }],
      create: async () => {},
      info: async () => [],
      status: async () => 'up',
      bind: async () => ({ DB_URL: 'made-up' }),
      unbind: async () => {},
      remove: async () => {},
    },
  });
}

async function go(page: Page, path: string): Promise<void> {
  await page.goto(`${world.apiUrl}/dashboard${path}`);
  await page.locator('#main h1').waitFor();
}

const manifest = (more = ''): string =>
  `id: db\nusername: ${PROVIDER.username}\npassword: ${PROVIDER.password}\nendpoint:\n  production: ${provider.url}\n${more}`;

it('a service: its manifest, text, plans, teams, an instance that is bound, and the end of all of it', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/services');
  await fill(page, 'New service', { Manifest: 'id: [nonsense' }, 'Add');
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByRole('dialog').getByLabel('Manifest', { exact: true }).fill(manifest());
  await page.getByRole('dialog').getByRole('button', { name: 'Add' }).click();
  await page.getByRole('link', { name: 'About db' }).click();
  await row(page, /small enough for one/).waitFor();
  await page.getByText('Its owners have written nothing').waitFor();
  await fill(page, 'Change the text', { 'How it is used': 'Bind it, and read DB_URL.' }, 'Change');
  await page.getByText('Bind it, and read DB_URL.').waitFor();
  await fill(page, 'Replace the manifest', { Manifest: manifest('restricted: true\n') }, 'Replace');
  await page.getByText('The provider is asked as the new manifest says.').waitFor();
  await fill(page, 'Give a team access', { Team: 'bakers' }, 'Give access');
  await page.getByText('That team may use it.').waitFor();
  await fill(page, "Take a team's access", { Team: 'bakers' }, 'Take away');
  await page.getByText('That team may not use it any more.').waitFor();

  await go(page, '/services');
  await fill(page, 'New instance', { Name: 'shop-db', Plan: 'small' }, 'Create');
  await page.getByRole('link', { name: 'shop-db' }).click();
  await page.getByRole('button', { name: 'Bind an app' }).click();
  await page.getByRole('dialog').getByLabel('App', { exact: true }).selectOption('shop');
  await page.getByRole('dialog').getByRole('button', { name: 'Bind', exact: true }).click();
  await row(page, /^shop/).waitFor();
  await go(page, '/apps/shop/env');
  // It comes and goes with the binding: there is nothing to change about it, and the way to what set it.
  await row(page, /^DB_URL /).waitFor();
  expect(
    await row(page, /^DB_URL /)
      .getByRole('button')
      .allTextContents(),
  ).toEqual(['']);
  await row(page, /^TANCHO_SERVICES .* of all bindings$/).waitFor();
  await row(page, /^DB_URL /)
    .getByRole('link', { name: 'shop-db' })
    .click();
  await row(page, /^shop/).waitFor();
  await go(page, '/services/db');
  await row(page, /shop-db .* small shop/).waitFor();
  await go(page, '/instances/shop-db');
  await surely(page, 'Unbind shop', 'Unbind');
  await page.getByText('No app uses it').waitFor();
  await surely(page, 'Remove', 'Remove', 'shop-db');
  await go(page, '/services/db');
  await page.getByText('No instance of db').waitFor();
  await surely(page, 'Remove the service db', 'Remove', 'db');
  await page.getByText('No service yet').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

it('certificates: one is brought, looked into and removed; one that nobody issues says why', async () => {
  const { page, context, faults } = await visit(browser);
  const { chain, key } = await testCertificate('www.example.com');
  await signIn(page, world, '/apps/shop/settings');
  await fill(page, 'Add a domain', { 'Host name': 'www.example.com' }, 'Add');
  await row(page, /www\.example\.com your own/).waitFor();
  await go(page, '/certificates');
  await fill(page, 'Upload a certificate', { Certificate: chain, Key: key, App: 'shop' }, 'Upload');
  await row(page, /www\.example\.com shop issued/).waitFor();
  await page.getByRole('button', { name: 'Look now: www.example.com' }).first().click();
  await page.getByRole('dialog', { name: 'www.example.com' }).getByRole('button', { name: 'Close' }).click();
  const renew = page.getByRole('button', { name: /^Renew the certificate of/ }).first();
  await renew.click();
  await expect.poll(() => page.locator('.toast').count()).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Remove the certificate of www.example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row(page, /www\.example\.com .*uploaded/).waitFor({ state: 'detached' });
  expect(faults).toEqual([]);
  await context.close();
});

it('the platform: alerts, a pool and its teams, a platform and its definition, a quota, and an exchange of addresses', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/alerts');
  await fill(page, 'Change the rule app_down', { 'Minutes that it has to be wrong': '7' }, 'Change');
  await row(page, /app_down .* 7 minutes on/).waitFor();
  await fill(page, 'Change who gets letters', { 'E-mail addresses': 'ops@example.com' }, 'Change');
  await page.getByText('ops@example.com').waitFor();
  await page.getByRole('button', { name: 'Send a test to all receivers' }).click();
  await page.getByText('Sent to ops@example.com.').waitFor();

  await go(page, '/pools');
  await fill(page, 'New pool', { Name: 'fast' }, 'Create');
  await fill(page, 'Give a team access to fast', { Team: 'bakers' }, 'Give access');
  await row(page, /fast bakers/).waitFor();
  await page.getByRole('button', { name: "Take a team's access to fast" }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).click();
  await row(page, /fast no team/).waitFor();
  await page.getByRole('button', { name: 'Change the pool fast' }).click();
  await page.getByRole('dialog').getByLabel('Every team may use it').check();
  await page.getByRole('dialog').getByRole('button', { name: 'Change', exact: true }).click();
  await row(page, /fast every team/).waitFor();

  await go(page, '/platforms');
  await fill(page, 'New platform', { Name: 'mine', Definition: DEFINITION }, 'Add');
  await row(page, /mine \(added here\) first words/).waitFor();
  await fill(page, 'Change the platform mine', { Definition: DEFINITION.replace('first', 'second') }, 'Change');
  await row(page, /mine \(added here\) second words/).waitFor();

  await go(page, '/apps/shop/settings');
  await fill(page, 'Change the quota', { 'Units that it may have': '3' }, 'Change');
  await page.getByText('It has 0 of 3 units.').waitFor();
  const own = (app: string) => row(page, new RegExp(`^${app}\\..* of the platform`));
  await own('shop').waitFor();
  await page.getByRole('button', { name: 'Exchange addresses' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Exchange', exact: true }).click();
  await own('depot').waitFor();

  await go(page, '/why?address=nobody.example');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Address', { exact: true }).fill('shop.nowhere.example');
  await page.getByRole('button', { name: 'Look', exact: true }).click();
  await expect.poll(() => new URL(page.url()).search).toBe('?address=shop.nowhere.example');
  expect(faults).toEqual([]);
  await context.close();
});

it('backups: one is made, how it comes back is said, and why the next one fails', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/backups');
  await page.getByText('There is no backup yet').waitFor();
  await page.getByRole('button', { name: 'Make one now' }).click();
  await row(page, /^tancho-\d{8}T\d{9}Z /).waitFor();
  await page.getByText('the last one is whole').waitFor();
  expect(await page.getByRole('region', { name: 'Schedule' }).textContent()).toMatch(
    /when somebody asks.*none by itself/,
  );
  const restore = await page.getByRole('region', { name: 'Restore' }).textContent();
  expect(restore).toContain(`tancho server restore ${join(disk, 'backups')}/tancho-`);

  await rename(join(disk, 'backups'), join(disk, 'away'));
  await symlink(join(disk, 'nowhere'), join(disk, 'backups'));
  await page.getByRole('button', { name: 'Make one now' }).click();
  await page.getByText('the last one failed').waitFor();
  expect(await page.locator('#main').getByRole('alert').textContent()).toMatch(/^The backup failed: .*backups/);
  await page.getByRole('link', { name: 'Change' }).click();
  await page.getByRole('heading', { name: 'Alerts' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});
