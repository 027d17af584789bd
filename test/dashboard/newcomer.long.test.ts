/**
 * A newcomer's path without the command line: open the page, sign in, create an app, drop a folder, watch the deploy, open its URL, see its log,
 * break it, see why, roll back. The pictures of the documentation are made on the way with TANCHO_TEST_PICTURES=1.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { create } from 'tar';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dropFiles, openBrowser, picture, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let browser: Browser;
let folder: string;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  folder = await mkdtemp(path.join(tmpdir(), 'tancho-newcomer-'));
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});
needsBrowser(() => world);

const SERVER = (body: string): string => `
const http = require('node:http');
http.createServer((request, response) => {
  console.log('asked for ' + request.url);
  if (request.url === '/markup') console.log('<img src=x onerror=alert(1)> printed');
  response.end(${JSON.stringify(body)});
}).listen(process.env.PORT, () => console.log('listening on ' + process.env.PORT));
`;

async function code(name: string, server: string): Promise<string> {
  const top = path.join(folder, name);
  await mkdir(path.join(top, 'node_modules/never'), { recursive: true });
  await writeFile(path.join(top, 'node_modules/never/sent.js'), 'left out');
  await writeFile(path.join(top, 'package.json'), JSON.stringify({ name, scripts: { start: 'node server.js' } }));
  await writeFile(path.join(top, 'server.js'), server);
  return top;
}

/** Chooses a folder on the page of the deploys, and waits until that deploy is over. */
async function choose(page: Page, top: string): Promise<void> {
  await page.getByLabel('Folder', { exact: true }).setInputFiles(top);
  await isOver(page);
}

/** Drops a folder or an archive there, and waits as well. */
async function drop(page: Page, file: string): Promise<void> {
  await dropFiles(page, page.getByRole('group', { name: 'Deploy a folder or an archive' }), [file]);
  await isOver(page);
}

async function isOver(page: Page): Promise<void> {
  await page.getByRole('heading', { name: /^Deploys \// }).waitFor();
  await page
    .getByText(/serves at|^Failed:/)
    .first()
    .waitFor();
}

it('goes from nothing to an app that was broken and rolled back', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world);
  await page.getByRole('link', { name: 'Create your first app' }).click();
  await page.getByLabel('Name', { exact: true }).fill('shop');
  await page.getByRole('button', { name: 'Create app' }).click();
  await page.getByText('Waiting for the first push').waitFor();
  await picture(page, 'first-push');

  await drop(page, await code('one', SERVER('version one')));
  await page.getByText('No request failed during the switch').waitFor();
  await page.locator('#main .head').getByText('started').waitFor();
  await expect.poll(() => page.getByRole('log', { name: 'What the deploy said' }).textContent()).toContain('shop');
  await picture(page, 'deploy');
  expect((await world.fetchApp('shop')).text).toBe('version one');
  // Once, though the screen around the zone takes what is dropped as well.
  const deploys = await world.api('GET', '/deploys?app=shop', { token: await world.login() });
  expect(deploys.json<unknown[]>()).toHaveLength(1);

  const screens = page.getByRole('navigation', { name: 'Screens of shop' });
  await screens.getByRole('link', { name: 'Log' }).click();
  const log = page.getByRole('log', { name: 'Log', exact: true });
  for (const path of ['/', '/style.css', '/basket', '/basket/3', '/pay', '/thanks', '/seen-in-the-log']) {
    await world.fetchApp('shop', path);
  }
  await expect.poll(() => log.textContent()).toContain('asked for /seen-in-the-log');
  await picture(page, 'log');
  // What an app prints is text.
  await world.fetchApp('shop', '/markup');
  await expect.poll(() => log.textContent()).toContain('<img src=x onerror=alert(1)> printed');
  await expect.poll(() => log.textContent()).toContain('admin@example.com');
  await page.getByRole('combobox', { name: 'Source' }).selectOption('web only');
  await expect.poll(() => log.textContent()).not.toContain('admin@example.com');
  await expect.poll(() => log.textContent()).toContain('asked for /seen-in-the-log');
  await page.getByLabel('Search the log').fill('SEEN-in');
  await expect.poll(() => log.locator('.line').count()).toBe(1);
  expect(new URL(page.url()).search).toBe('?source=web&search=SEEN-in');

  await screens.getByRole('link', { name: 'Environment' }).click();
  await page.getByRole('button', { name: 'Set variables' }).click();
  await page.getByRole('textbox', { name: 'Variables' }).fill('GREETING=hello\n# a comment\nTOKEN="se cret"');
  await page.getByText(/Restarts once: web \(1 unit\)/).waitFor();
  await page.getByRole('button', { name: 'Set 2 variables' }).click();
  await page.getByRole('row', { name: /GREETING/ }).waitFor();
  await picture(page, 'environment');

  await screens.getByRole('link', { name: 'Deploys' }).click();
  await choose(page, await code('broken', "console.error('no database here'); process.exit(3);"));
  await expect
    .poll(() => page.getByRole('log', { name: 'What the deploy said' }).textContent())
    .toContain('no database here');
  expect((await world.fetchApp('shop')).text).toBe('version one');

  const archive = path.join(folder, 'two.tar.gz');
  await create({ gzip: true, file: archive, cwd: await code('two', SERVER('version two')) }, [
    'package.json',
    'server.js',
  ]);
  await screens.getByRole('link', { name: 'Settings' }).click();
  // Beside every drop zone.
  await dropFiles(page, page.getByRole('heading', { name: 'Domains' }), [archive]);
  await isOver(page);
  expect((await world.fetchApp('shop')).text).toBe('version two');
  await screens.getByRole('link', { name: 'Deploys' }).click();
  await page.getByRole('button', { name: 'Roll back to v1', exact: false }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
  await expect.poll(async () => (await world.fetchApp('shop')).text).toBe('version one');

  await screens.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('button', { name: 'One web unit more' }).click();
  await expect.poll(() => page.getByRole('group', { name: 'Units of web' }).textContent()).toContain('2');
  await picture(page, 'app');
  expect(faults).toEqual([]);
  await context.close();
});
