/** A shell and commands in the terminal of the page, within its policy. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, picture, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { createWorkTree, nodeApp } from '../support/git.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  const token = await world.login();
  await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'shop', platform: 'nodejs' }) });
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

const shown = (page: Page, name: string) => page.getByRole('group', { name, exact: true }).locator('.xterm-rows');
const SHELL = 'Shell in shop';
const SCARLET = `getComputedStyle([...document.querySelectorAll('.xterm-rows span')].find((one) => one.textContent === 'scarlet')).color`;

async function openShell(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Open/ }).click();
  await page.locator('#main').getByText('open', { exact: true }).waitFor();
}

it('opens a shell that takes keys, knows its size, shows colours, and ends with its code', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/apps/shop/terminal');
  await openShell(page);
  await page.keyboard.type('echo answer is $((6 * 7)) on $(tput cols 2>/dev/null || stty size)\n');
  await expect.poll(() => shown(page, SHELL).textContent()).toContain('answer is 42 on ');
  await page.keyboard.type(`printf '\\033[38;2;255;0;0mscar\\154et\\033[0m\\n'\n`);
  await shown(page, SHELL)
    .locator('span', { hasText: /^scarlet$/ })
    .waitFor();
  expect(await page.evaluate(SCARLET)).toMatch(/^rgb\(255, /);

  await page.setViewportSize({ width: 700, height: 900 });
  await page.keyboard.type('clear; stty size\n');
  await expect.poll(() => shown(page, SHELL).textContent()).toMatch(/^\s*\d+ \d{2}\D/);
  await page.setViewportSize({ width: 1440, height: 900 });

  // More than a terminal can show in time waits where it is made.
  await page.keyboard.type('clear; head -c 30000000 /dev/zero | tr "\\0" x; echo; echo all-$((1 + 1))-shown\n');
  await expect.poll(() => shown(page, SHELL).textContent()).toContain('all-2-shown');

  // Keys of the page are the shell's while one is in it; F6 gets out.
  await page.keyboard.press('Control+k');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.keyboard.press('F6');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('End');
  await page.getByRole('textbox', { name: SHELL }).focus();
  await page.keyboard.type('clear; ls --color=always; exit 3\n');
  await page.getByText('ended with 3').waitFor();
  await picture(page, 'terminal');
  expect(faults).toEqual([]);
  await context.close();
});

it('runs a command, stops one that would go on, and says why a shell is not there', async () => {
  const { page, context, faults } = await visit(browser);
  await signIn(page, world, '/apps/shop/terminal');
  await page.getByLabel('Command', { exact: true }).fill('node -p 6*7');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(() => shown(page, 'Output of the command').textContent()).toMatch(/6\*7\s*42/);
  await page.getByLabel('Command', { exact: true }).fill('echo begun; sleep 1000');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect.poll(() => shown(page, 'Output of the command').textContent()).toMatch(/\sbegun/);
  await page.getByRole('button', { name: 'Stop the command' }).click();
  await expect.poll(() => shown(page, 'Output of the command').textContent()).toContain('(stopped)');

  await page.goto(`${world.apiUrl}/dashboard/apps/shop/terminal?unit=nothing-like-that`);
  await page.getByRole('button', { name: 'Open a shell' }).click();
  await expect.poll(() => shown(page, SHELL).textContent()).toMatch(/nothing-like-that/);
  await page.getByLabel('Beside which unit').selectOption('');

  await openShell(page);
  await world.end('SIGTERM');
  await page.getByText('cut off').waitFor();
  await world.startAgain();
  await page.getByText('The server does not answer. What you see may be old').waitFor({ state: 'detached' });
  await openShell(page);
  await page.keyboard.type('echo back-$((20 + 3))\n');
  await expect.poll(() => shown(page, SHELL).textContent()).toContain('back-23');
  expect(faults).toEqual([]);
  await context.close();
});
