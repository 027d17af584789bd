/** A real Chromium, and pages of the dashboard in it. What a page must never do (break its policy, throw) is noted for every page. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { watchPage } from './page-state.ts';
import { unawareBrowser } from './unaware-browser.ts';
import type { World } from './world.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);
/** '' where the tests can run. */
export const WITHOUT_BROWSER = CHROMIUM === undefined ? 'needs Chromium: apt install chromium' : '';
/** The machine may be busy. */
const WAIT_MS = 60_000;

export async function openBrowser(): Promise<Browser> {
  const program = await unawareBrowser(CHROMIUM ?? '');
  try {
    const args = ['--no-sandbox', '--disable-dev-shm-usage'];
    const browser = await chromium.launch({ executablePath: program.path, args });
    // Its child processes may be begun at any time.
    browser.once('disconnected', () => void program.remove());
    return browser;
  } catch (error) {
    await program.remove();
    throw error;
  }
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong in the page itself: thrown errors, violations of its policy, failed modules. */
  readonly faults: string[];
}

export interface VisitOptions {
  readonly width?: number;
  readonly height?: number;
  readonly isDark?: boolean;
  /** For tools that set styles of their own in the page; then the policy of the page cannot be broken. */
  readonly withoutPolicy?: boolean;
}

/** A browser of somebody, with nothing kept from before. */
export async function visit(browser: Browser, options: VisitOptions = {}): Promise<Visit> {
  const { width = 1440, height = 900, isDark = false, withoutPolicy = false } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: isDark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    bypassCSP: withoutPolicy,
  });
  context.setDefaultTimeout(WAIT_MS);
  context.on('page', watchPage);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|Refused to/.test(message.text())) faults.push(`policy: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { context, page, faults };
}

/**
 * Bytes that the largest tab has for itself, as the task manager of Chromium counts them ("memory footprint"): what its process holds that no
 * file stands behind. JavaScript's heap is a part of it only.
 */
export async function tabMemory(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const held = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => footprintOf(id));
  return Math.max(...held);
}

function footprintOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return (kilobytes('RssAnon') + kilobytes('VmSwap')) * 1_024;
}

/** Signs in by the form, at whatever address of the dashboard. */
export async function signIn(
  page: Page,
  world: World,
  path = '',
  who?: { email: string; password: string },
): Promise<void> {
  await page.goto(`${world.apiUrl}/dashboard${path}`);
  await page.getByLabel('E-mail').fill(who?.email ?? world.adminEmail);
  await page.getByLabel('Password').fill(who?.password ?? world.adminPassword);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#main h1').waitFor();
}

/** Drags files or folders of this machine onto a part of the page, and drops them there, as a file manager does. */
export async function dropFiles(page: Page, onto: Locator, files: readonly string[]): Promise<void> {
  await onto.scrollIntoViewIfNeeded();
  const box = await onto.boundingBox();
  if (box === null) throw new Error('There is nothing to drop files on.');
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const session = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    const data = { items: [], files: [...files], dragOperationsMask: 1 };
    await session.send('Input.dispatchDragEvent', { type, ...at, data });
  }
  await session.detach();
}

/** Pictures for docs/images are made. */
export const MAKES_PICTURES = process.env['TANCHO_TEST_PICTURES'] === '1';

/** What fades or turns is left to come to rest, and news of what was done before to go. */
export async function picture(page: Page, name: string): Promise<void> {
  if (!MAKES_PICTURES) return;
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  const file = fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url));
  await page.screenshot({ path: file, animations: 'disabled', scale: 'css' });
}
