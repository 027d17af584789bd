/** What a page is doing, for who has waited in vain for something in it. */
import { readFile } from 'node:fs/promises';
import type { Page, Request } from 'playwright-core';

const LAST = 20;
/** A page that is busy, or whose process is gone, answers nothing. */
const ASK_MS = 5_000;

interface Watched {
  readonly pending: Map<Request, number>;
  /** Failed requests and refused ones, and what the console says; the last ones. */
  readonly noted: string[];
}

const open = new Map<Page, Watched>();

/** From now on, until the page is closed. */
export function watchPage(page: Page): void {
  const pending = new Map<Request, number>();
  const noted: string[] = [];
  const begun = Date.now();
  const note = (text: string): void => {
    noted.push(`+${Date.now() - begun} ms ${text}`);
    if (noted.length > LAST) noted.shift();
  };
  open.set(page, { pending, noted });
  page.on('request', (request) => void pending.set(request, Date.now()));
  page.on('requestfinished', (request) => void pending.delete(request));
  page.on('requestfailed', (request) => {
    pending.delete(request);
    note(`failed: ${lineOf(request)} ${request.failure()?.errorText ?? ''}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) note(`${response.status()}: ${lineOf(response.request())}`);
  });
  page.on('console', (message) => note(`console: ${message.text()}`));
  page.on('pageerror', (error) => note(`thrown: ${error.message}`));
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) note(`navigated to ${frame.url()}`);
  });
  page.once('close', () => void open.delete(page));
}

const lineOf = (request: Request): string => `${request.method()} ${request.url()} (${request.resourceType()})`;

/** Of all pages that are open. */
export async function pageStates(): Promise<string> {
  const states = await Promise.all([...open].map(([page, watched]) => stateOf(page, watched)));
  const load = (await readFile('/proc/loadavg', 'latin1')).trim();
  return [...states, `load average ${load}`].join('\n');
}

const OWN_STATE = `JSON.stringify({
  state: document.readyState,
  seen: document.visibilityState,
  loadedMs: Math.round(performance.now()),
  by: performance.getEntriesByType('navigation')[0]?.type,
  files: performance.getEntriesByType('resource').length,
  text: document.body.innerText.slice(0, 600),
})`;

async function stateOf(page: Page, { pending, noted }: Watched): Promise<string> {
  const now = Date.now();
  const asked = page.evaluate<string>(OWN_STATE).catch((error: unknown) => String(error));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`says nothing for ${ASK_MS} ms`), ASK_MS);
  });
  const own = await Promise.race([asked, late]);
  clearTimeout(timer);
  return [
    `page ${page.url()}`,
    `  ${own}`,
    ...[...pending].map(([request, since]) => `  not answered for ${now - since} ms: ${lineOf(request)}`),
    ...noted.map((text) => `  ${text}`),
  ].join('\n');
}
