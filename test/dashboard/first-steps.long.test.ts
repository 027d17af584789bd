/** The dashboard in a real browser: what everybody meets first. The rest is in the long files beside it. */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { compressedBytes } from '../support/compressed-bytes.ts';
import { createIdentity, createWorkTree, nodeApp, sshUrl } from '../support/git.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { request, startWorld, type World } from '../support/world.ts';

const MOST_BYTES = 100 * 1024;
/** So long in starting that a page sees it there. */
const SLOW_APP = {
  ...nodeApp(''),
  'server.js': `const server = require('node:http').createServer((_, response) => response.end('at last'));
setTimeout(() => server.listen(process.env.PORT), 12_000);
`,
};
const execute = promisify(execFile);

describe('the dashboard', () => {
  let world: World;
  let browser: Browser;

  beforeAll(async () => {
    if (WITHOUT_BROWSER !== '') return;
    [world, browser] = await Promise.all([startWorld(), openBrowser()]);
  });
  needsBrowser(() => world);
  afterAll(async () => {
    await browser?.close();
    await world?.dispose();
  });

  it('loads in less than 100 KB, signs in, creates an app and signs out, within its policy', async () => {
    const { page, context, faults } = await visit(browser);
    const received: string[] = [];
    page.on('response', (response) => received.push(new URL(response.url()).pathname));
    await page.goto(`${world.apiUrl}/dashboard/apps/nothing`);
    await page.getByLabel('E-mail').fill(world.adminEmail);
    await page.getByLabel('Password').fill('wrong password');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/wrong password/i);
    await page.getByLabel('Password').fill(world.adminPassword);
    await page.getByRole('button', { name: 'Sign in' }).click();
    // The address that was asked for, and not the start.
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/nothing not found/i);
    await page.getByRole('link', { name: 'Tancho' }).first().click();
    await page.getByRole('link', { name: 'Create your first app' }).click();
    const files = received.filter((path) => path === '/dashboard' || path.startsWith('/dashboard/files/'));
    expect(files.length).toBeGreaterThan(20);
    expect(await compressedBytes(world.apiUrl, new Set(files))).toBeLessThanOrEqual(MOST_BYTES);

    await page.getByLabel('Name', { exact: true }).fill('shop');
    await page.getByRole('button', { name: 'Create app' }).click();
    await page.getByText('Waiting for the first push').waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/apps/shop');

    // No script sees the session, and no other path gets it.
    expect(await page.evaluate('document.cookie')).toBe('');
    const [cookie] = await context.cookies(`${world.apiUrl}/dashboard/api/apps`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/dashboard/api' });
    const elsewhere = await request(world.apiUrl, 'GET', '/apps', {
      headers: { cookie: `tancho-session=${cookie?.value}` },
    });
    expect(elsewhere.status).toBe(401);

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const after = { cookie: `tancho-session=${cookie?.value}`, 'sec-fetch-site': 'same-origin' };
    expect((await request(world.apiUrl, 'GET', '/dashboard/api/apps', { headers: after })).status).toBe(401);
    expect(faults).toEqual([]);
    await context.close();
  });

  it('brings a new password to whoever has forgotten theirs: by a letter, and no secret is in an address', async () => {
    const { page, context, faults } = await visit(browser);
    const bea = { email: 'bea@example.com', password: 'battery horse staple' };
    await world.api('POST', '/users', { token: await world.login(), body: JSON.stringify(bea) });
    const addresses: string[] = [];
    page.on('request', (asked) => addresses.push(asked.url()));
    await page.goto(`${world.apiUrl}/dashboard`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Forgot the password?' }).click();
    await dialog.getByLabel('Your e-mail').fill(bea.email);
    await dialog.getByRole('button', { name: 'Send a letter' }).click();
    await page.getByText('A letter with a token is on its way.').waitFor();
    const token = await tokenOfLetter(world);
    await page.getByRole('button', { name: 'I have a token' }).click();
    await dialog.getByLabel('Your e-mail').fill(bea.email);
    await dialog.getByLabel('Token').fill(token);
    await dialog.getByLabel('New password').fill('another horse staple');
    await dialog.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('Sign in with the new password.').waitFor();
    expect(addresses.filter((url) => url.includes(token))).toEqual([]);
    await context.close();
    const again = await visit(browser);
    await signIn(again.page, world, '', { ...bea, password: 'another horse staple' });
    expect([...faults, ...again.faults]).toEqual([]);
    await again.context.close();
  });

  it('teaches the first push by the key, the address and the name of who looks, and shows it as it arrives', async () => {
    const { page, context, faults } = await visit(browser);
    const identity = await createIdentity();
    const tree = await createWorkTree(SLOW_APP, identity);
    await signIn(page, world, '/apps/shop');
    await page.getByLabel('Public key').fill(identity.publicKey);
    await page.getByRole('button', { name: 'Add key' }).click();
    await page.getByRole('heading', { name: /^Your key: / }).waitFor();
    const taught = (await page.locator('.steps .code').textContent()) ?? '';
    const commands = taught.split('\n').map((line) => line.trim().split(' '));
    expect(commands.map(([program]) => program)).toEqual(['git', 'git']);
    expect(taught).toContain(`:${world.ssh.port}/shop.git`);
    const [remote = [], push = []] = commands.map(([, ...args]) => args);
    await execute('git', remote, { cwd: tree.dir, env: tree.env });
    const pushed = execute('git', push, { cwd: tree.dir, env: tree.env });
    await page.getByRole('link', { name: 'Watch the deploy' }).click();
    // As it happens: the step it is at, and what it has said so far.
    const steps = page.getByRole('list', { name: 'Steps of the deploy' });
    await steps.locator('[aria-current="step"]').getByText('starting').waitFor();
    const said = page.getByRole('log', { name: 'What the deploy said' });
    await said.getByText('Starting release 1').waitFor();
    expect(await page.getByText('serves at').count()).toBe(0);
    await pushed;
    await page.getByText('No request failed during the switch').waitFor();
    expect((await world.fetchApp('shop')).text).toBe('at last');
    expect(faults).toEqual([]);
    await context.close();
    await Promise.all([tree.dispose(), identity.dispose()]);
  });

  it('says why the first push failed where it was taught', async () => {
    const { page, context, faults } = await visit(browser);
    const token = await world.login();
    const identity = await createIdentity();
    await world.api('POST', '/users/keys', { token, body: JSON.stringify({ key: identity.publicKey }) });
    await world.api('POST', '/apps', { token, body: JSON.stringify({ name: 'lame', platform: 'nodejs' }) });
    const tree = await createWorkTree({ ...nodeApp(''), 'server.js': 'process.exit(3);\n' }, identity);
    const url = sshUrl(world, 'lame');
    await expect(execute('git', ['push', url, 'HEAD:main'], { cwd: tree.dir, env: tree.env })).rejects.toThrow();
    await signIn(page, world, '/apps/lame');
    await page.getByText('The process "web" ended with code 3 before it was ready.').waitFor();
    await page.getByRole('link', { name: 'See what it said' }).click();
    await page.getByRole('log', { name: 'What the deploy said' }).getByText('Deploy failed').waitFor();
    expect(faults).toEqual([]);
    await context.close();
    await Promise.all([tree.dispose(), identity.dispose()]);
  });

  it('says so when the server is away, and goes on by itself when it is back', async () => {
    const { page, context, faults } = await visit(browser, { width: 360, height: 740, isDark: true });
    await signIn(page, world);
    await page.getByRole('link', { name: /shop/ }).waitFor();
    await world.end('SIGTERM');
    await page.getByText('The server does not answer').waitFor();
    await world.startAgain();
    await page.getByText('The server does not answer').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: /shop/ }).click();
    await page.getByRole('heading', { name: 'Processes and units' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});

/** Where no mail server is set, letters are files. */
async function tokenOfLetter(world: World): Promise<string> {
  const folder = join(world.home, 'mail');
  const letters = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  const [, token = ''] = /--token ([0-9a-f]+)/.exec(letters.join('\n')) ?? [];
  expect(token).not.toBe('');
  return token;
}
