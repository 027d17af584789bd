/**
 * What the page asks for first does not come, or comes late, or is refused: it always ends in a page by itself, and says so meanwhile.
 * Those that mostly wait do it side by side.
 */
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { ofRounds, rounds } from '../support/rounds.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let browser: Browser;

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [world, browser] = await Promise.all([startWorld(), openBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await world?.dispose();
});
needsBrowser(() => world);

/** Others than the first ones. */
const ONE_OF_REQUESTS = rounds(12, 1);
const SLOW_BYTES_A_SECOND = 8 * 1_024;
const STYLED = `[...document.styleSheets].some(({ cssRules }) => [...cssRules].every(({ styleSheet }) => styleSheet))`;

const comes = (page: Page): Promise<void> => page.getByRole('heading', { name: 'Sign in' }).waitFor();

/** Opens the page where `fate` is that of the first request for `path`, and the server answers all others. Resolves once it is there. */
async function openWhere(path: string, fate: (route: Route) => Promise<void>): Promise<void> {
  const { page, context } = await visit(browser);
  let isFirst = true;
  await context.route(
    (url) => url.pathname === path,
    (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      return fate(route);
    },
  );
  await page.goto(`${world.apiUrl}/dashboard`);
  await comes(page).catch((error: unknown) => {
    throw new Error(`without ${path} at first the page does not come`, { cause: error });
  });
  expect(isFirst, `${path} is asked for`).toBe(false);
  await context.close();
}

/** Where the first request for the file is never answered, and those after it are. */
async function comesWithout(name: string): Promise<void> {
  const { page, context } = await visit(browser);
  let asked = 0;
  await context.route(new RegExp(`/${name}$`), (route) => {
    asked += 1;
    return asked === 1 ? undefined : route.continue();
  });
  await page.goto(`${world.apiUrl}/dashboard`, { waitUntil: 'commit' });
  await comes(page);
  expect(asked).toBeGreaterThan(0);
  await context.close();
}

it('comes by itself whichever of its first requests is cut', async () => {
  const { page, context } = await visit(browser);
  const asked = new Set<string>();
  page.on('request', (request) => asked.add(new URL(request.url()).pathname));
  await page.goto(`${world.apiUrl}/dashboard`);
  await comes(page);
  await context.close();
  asked.delete('/dashboard');
  expect(asked.size).toBeGreaterThan(30);
  // All modules but the first two come by imports, as all styles but the first do, and each is asked for again by the same code.
  const chosen = [...asked].filter((path, at) => /(?:begin|main)\.js$/.test(path) || at % ONE_OF_REQUESTS === 0);
  for (const path of chosen) await openWhere(path, (route) => route.abort('connectionreset'));
});

it.each(ofRounds([404, 429, 503], (status) => status !== 429))(
  'comes by itself after an answer of %i to a module, or to who this is',
  async (status) => {
    const { page, context } = await visit(browser);
    await page.goto(`${world.apiUrl}/dashboard`);
    const main = await page.evaluate<string>(`new URL(document.querySelector('script[src$="main.js"]').src).pathname`);
    await context.close();
    for (const path of [main, main.replace('main.js', 'parts/form.js'), '/dashboard/api/users/info']) {
      await openWhere(path, (route) => route.fulfill({ status, contentType: 'text/plain', body: 'not now' }));
    }
  },
);

it.concurrent('says that it takes long, with a way to load the page again, while something never comes', async () => {
  const { page, context } = await visit(browser);
  const held = Promise.withResolvers<void>();
  await context.route(/\/parts\/form\.js$/, async (route) => {
    await held.promise;
    await route.continue();
  });
  const opened = page.goto(`${world.apiUrl}/dashboard`, { waitUntil: 'commit' });
  // Before there are styles everything is seen.
  await expect.poll(() => page.evaluate(STYLED)).toBe(true);
  await page.getByRole('link', { name: 'Load it again' }).waitFor();
  await opened;
  held.resolve();
  await comes(page);
  await context.close();
});

const NEVER = 'comes by itself where %s is asked for and never answered';
// Alone: where it is missing nothing loads the page again, so its own requests are to be over soon.
it.each(['begin.js'])(NEVER, comesWithout);
it.concurrent.each(['main.js', 'parts/form.js', 'style/base.css'])(NEVER, comesWithout);

it.concurrent('gives up an answer that never comes, says so, and asks again', async () => {
  const { page, context } = await visit(browser);
  let asked = 0;
  await context.route('**/dashboard/api/users/info', (route) => {
    asked += 1;
    // The first is never answered.
    return asked === 1 ? undefined : route.continue();
  });
  await page.goto(`${world.apiUrl}/dashboard`);
  await comes(page);
  expect(asked).toBeGreaterThan(1);
  await context.close();
});

it.concurrent('tells what the server says while it refuses to say who this is, and how to ask again', async () => {
  const { page, context } = await visit(browser);
  let isWell = false;
  await context.route('**/dashboard/api/users/info', (route) =>
    isWell ? route.continue() : route.fulfill({ status: 503, contentType: 'text/plain', body: 'It is being started.' }),
  );
  await page.goto(`${world.apiUrl}/dashboard`);
  await page.getByRole('alert').getByText('It is being started.').waitFor();
  isWell = true;
  await page.getByRole('button', { name: 'Try again' }).click();
  await comes(page);
  await context.close();
});

it.concurrent(
  'loads the module of a screen again after it did not come, and says that it takes long while it does not',
  async () => {
    const { page, context } = await visit(browser);
    await signIn(page, world);
    const held = Promise.withResolvers<void>();
    await context.route(/\/screens\/(?:plans|pools)\.js$/, async (route) => {
      if (route.request().url().endsWith('plans.js')) return route.abort('connectionreset');
      await held.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Pools' }).click();
    await page.getByRole('button', { name: 'Load the page again' }).waitFor();
    held.resolve();
    await page.getByRole('heading', { name: 'Pools' }).waitFor();
    await page.getByRole('link', { name: 'Plans' }).click();
    await page.getByText('The rest of this page could not be loaded').waitFor();
    await context.unrouteAll();
    // By itself, for nothing is lost with the page.
    await page.getByRole('heading', { name: 'Plans' }).waitFor();
    await context.close();
  },
);

it('a connection as slow as of an old telephone brings the page, once, and every screen says that it loads', async () => {
  const { page, context, faults } = await visit(browser);
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    ...{
      offline: false,
      latency: 300,
      downloadThroughput: SLOW_BYTES_A_SECOND,
      uploadThroughput: SLOW_BYTES_A_SECOND,
    },
  });
  let visits = 0;
  let isCut = false;
  page.on('requestfailed', (request) => {
    isCut ||= request.failure()?.errorText === 'net::ERR_NETWORK_CHANGED';
  });
  page.on('request', (request) => {
    if (request.isNavigationRequest()) visits += 1;
  });
  await page.goto(`${world.apiUrl}/dashboard`, { waitUntil: 'commit' });
  await page.getByText('Loading').first().waitFor();
  await comes(page);
  await page.getByLabel('E-mail').fill(world.adminEmail);
  await page.getByLabel('Password').fill(world.adminPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#main h1').waitFor();
  for (const name of ['Health', 'Audit', 'Your account']) {
    await page.getByRole('link', { name }).click();
    await page.locator('#main .waiting').first().waitFor();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await page.locator('#main .waiting').first().waitFor({ state: 'detached' });
  }
  // Where the network of this machine changes meanwhile, Chromium cuts everything off.
  if (!isCut) expect(visits).toBe(1);
  expect(faults).toEqual([]);
  await context.close();
});

// The last, and alone: the others need the server.
it('comes by itself when the server stands still while it loads, and goes on later', async () => {
  const { page, context } = await visit(browser);
  page.on('request', (request) => {
    if (request.url().endsWith('/main.js')) process.kill(world.pid, 'SIGSTOP');
  });
  try {
    await page.goto(`${world.apiUrl}/dashboard`, { waitUntil: 'commit' });
    await page.getByRole('link', { name: 'Load it again' }).waitFor();
  } finally {
    page.removeAllListeners('request');
    process.kill(world.pid, 'SIGCONT');
  }
  await comes(page);
  await context.close();
});
