/**
 * Every action of the dashboard is known, and for each kind of them, each way in which it can go wrong: the page says so in words, with what to do;
 * what was typed stays; it can be done again; and nothing is sent twice. What the server would do is the subject of other tests: here it refuses.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn, visit, WITHOUT_BROWSER } from '../support/browser.ts';
import { needsBrowser } from '../support/needs-browser.ts';
import { type Action, ACTIONS, LOOKING, SECRET } from './actions.ts';
import { type Populated, startPopulated } from './populated.ts';
import { ofRounds } from '../support/rounds.ts';

interface Refusal {
  readonly status: number;
  readonly code: string;
}

/** Null: nobody answers. */
type Answer = { readonly status: number; readonly type: string; readonly body: string } | null;

/**
 * In the page: what would change something is answered by the test. What only reads goes to the server as it is, for to have the browser stop
 * each request costs more than all the rest.
 */
const ANSWERED_HERE = `(() => {
  const real = window.fetch;
  window.fetch = async (url, request = {}) => {
    const { method = 'GET' } = request;
    if (method === 'GET') return real(url, request);
    const answer = await window.answerHere(method, new URL(url, location.origin).href);
    if (answer === null) throw new TypeError('Failed to fetch');
    return new Response(answer.body, { status: answer.status, headers: { 'content-type': answer.type } });
  };
})()`;
const NOBODY = async (): Promise<Answer> => null;

/** What a server may say in place of doing it. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  'the viewer may not': { status: 403, code: 'access.denied' },
  'somebody else is at it': { status: 409, code: 'app.busy' },
  'it is gone': { status: 404, code: 'app.not_found' },
  'what was sent is wrong': { status: 400, code: 'input.invalid' },
  'the provider is down': { status: 500, code: 'provider.failed' },
  'the platform is starting': { status: 503, code: 'unavailable' },
};

/** That its input is wrong, and two of the others in turns: the page shows them all by the same code. */
function refusalsOf(action: Action): [string, Refusal][] {
  const turn = CHOSEN.indexOf(action);
  return Object.entries(REFUSALS).filter(([, { status }], at) => status === 400 || (at + turn) % 3 === 0);
}

/** What it takes: a form or none, a dialog or none, an answer that says something. */
function kindOf({ fields, choices, sure, typed, after, answer, reloads }: Action): string {
  return [fields, choices, sure, typed, after, answer, reloads].map((part) => part !== undefined).join();
}

/** The first of each kind. */
const CHOSEN = ofRounds(ACTIONS, (action) => ACTIONS.find((one) => kindOf(one) === kindOf(action)) === action);

/** In the head of each. */
const OF_EVERY_APP_SCREEN = ACTIONS.filter(({ button }) => ['Restart', 'Stop', 'Start'].includes(String(button)));

let populated: Populated;
let browser: Browser;
let page: Page;
let faults: readonly string[];
/** What is done now, and what it gets. */
let current: Action | undefined;
let server: Answering = { sent: [], respond: NOBODY };
/** Of all that was asked for. */
const addresses: string[] = [];

beforeAll(async () => {
  if (WITHOUT_BROWSER !== '') return;
  [populated, browser] = await Promise.all([startPopulated(), openBrowser()]);
  ({ page, faults } = await visit(browser));
  page.on('request', (request) => addresses.push(decodeURIComponent(request.url())));
  await signIn(page, populated.world);
  await page.exposeFunction('answerHere', answer);
  await page.addInitScript(ANSWERED_HERE);
  await page.goto(`${populated.world.apiUrl}/dashboard`);
});
afterAll(async () => {
  await browser?.close();
  await populated?.dispose();
});
needsBrowser(() => populated?.world);

it('every button of every screen is in the table of actions, or changes nothing', async () => {
  const unknown: string[] = [];
  for (const at of new Set(ACTIONS.map((action) => action.at))) {
    await open(at);
    const own = ACTIONS.filter((action) => action.at === at);
    const known = [...own, ...(at.startsWith('/apps/') ? OF_EVERY_APP_SCREEN : [])];
    for (const { button } of own) await named(page.locator('#main'), button).waitFor();
    for (const name of await buttonNames()) {
      const isAction = known.some(({ button, family }) => (family ?? exactly(button)).test(name));
      if (!isAction && !LOOKING.some((pattern) => pattern.test(name))) unknown.push(`${at}: ${name}`);
    }
  }
  expect(unknown).toEqual([]);
});

it.each(CHOSEN.map((action) => [`${action.at} ${String(action.button)} (${action.sends})`, action] as const))(
  '%s: refused, lost, expired, slow',
  async (_name, action) => {
    current = action;
    server = { sent: [], respond: NOBODY };
    await open(action.at);
    const doing = new Doing(action);
    await doing.begin();
    for (const [why, refusal] of refusalsOf(action)) {
      const field = await doing.firstField();
      server.respond = async () => refused(why, refusal, field);
      await doing.act();
      await doing.place().getByText(`${why}, it says.`).first().waitFor();
      await doing.place().getByText(`What to do: ${refusal.code}.`).first().waitFor();
      await doing.expectTyped();
      if (refusal.status === 400 && field !== '') {
        expect(await doing.form().locator('[aria-invalid="true"]').getAttribute('name')).toBe(field);
      }
      await doing.dismiss();
    }

    server.respond = NOBODY;
    await doing.act();
    await doing
      .place()
      .getByText(/server (?:does|did) not answer/i)
      .first()
      .waitFor();
    await page.getByText('What you see may be old').waitFor({ state: 'detached' });
    await doing.expectTyped();
    await doing.dismiss();

    server.respond = async () => refused('no session', { status: 401, code: 'auth.required' }, '');
    await doing.act();
    const cover = page.getByRole('dialog', { name: 'Sign in' });
    await cover.getByText('what you have typed is still there').waitFor();
    await cover.getByLabel('Password').fill(populated.world.adminPassword);
    await cover.getByRole('button', { name: 'Sign in' }).click();
    await cover.waitFor({ state: 'detached' });
    await doing.expectTyped();
    await doing.dismiss();

    const held = Promise.withResolvers<void>();
    const isSent = Promise.withResolvers<void>();
    server.sent.length = 0;
    server.respond = async () => {
      isSent.resolve();
      await held.promise;
      return done(JSON.stringify(action.answer ?? ''));
    };
    await doing.act();
    await isSent.promise;
    expect(await doing.button().getAttribute('aria-busy')).toBe('true');
    // A click that waits for the button to be ready would prove nothing.
    for (let n = 0; n < 3; n += 1) await doing.button().dispatchEvent('click');
    const reloaded = action.reloads === true ? page.waitForEvent('load') : undefined;
    held.resolve();
    await doing.expectDone();
    await reloaded;
    expect(server.sent.filter((line) => line === action.sends)).toEqual([action.sends]);
    expect(addresses.filter((url) => url.includes(SECRET))).toEqual([]);
    expect(faults).toEqual([]);
  },
);

interface Answering {
  /** Operations that would have changed something. */
  readonly sent: string[];
  respond: () => Promise<Answer>;
}

/** `/services/{service}/doc` before `/services/{service}/{team}`. */
const LINES = [...new Set(ACTIONS.flatMap(({ sends, after = sends }) => [sends, after]))].sort(
  (one, other) => one.split('{').length - other.split('{').length,
);

/** What changes something never reaches the server. */
async function answer(method: string, href: string): Promise<Answer> {
  addresses.push(decodeURIComponent(href));
  const path = new URL(href).pathname.slice('/dashboard/api'.length);
  if (path === '/auth/session') return done('');
  const line = LINES.find((one) => isOf(one, method, path)) ?? `${method} ${path}`;
  if (line === current?.after) return done('');
  server.sent.push(line);
  return server.respond();
}

function done(body: string): Answer {
  return { status: 200, type: 'application/json', body };
}

function isOf(line: string, method: string, path: string): boolean {
  const [wanted = '', template = ''] = line.split(' ');
  const pattern = template
    .split(/\{\w+\}/)
    .map(escaped)
    .join('[^/]+');
  return method === wanted && new RegExp(`^${pattern}$`).test(path);
}

function refused(why: string, { status, code }: Refusal, field: string): Answer {
  const document = {
    ...{ type: `urn:tancho:error:${code}`, title: code, status, code, requestId: 'r' },
    ...{ detail: `${why}, it says.`, hint: `What to do: ${code}.`, details: field === '' ? {} : { field } },
  };
  return { status, type: 'application/problem+json', body: JSON.stringify(document) };
}

/** One action on the page, done again and again. */
class Doing {
  readonly #action: Action;
  readonly #isForm: boolean;
  #isFirst = true;

  constructor(action: Action) {
    this.#action = action;
    this.#isForm = action.fields !== undefined || action.choices !== undefined;
  }

  /** Opens the form and fills it in, where there is one. */
  async begin(): Promise<void> {
    const { button, fields = {}, choices = {}, sure } = this.#action;
    if (!this.#isForm) return;
    if (sure !== undefined) await named(page.locator('#main'), button).click();
    else await named(page.locator('#main'), button).waitFor();
    for (const [label, text] of Object.entries(fields)) await this.#field(label).fill(text);
    for (const [label, value] of Object.entries(choices)) await this.#field(label).selectOption(value);
  }

  /** What does it, at last. */
  button(): Locator {
    const { button, sure } = this.#action;
    return this.#isForm && sure !== undefined
      ? named(page.getByRole('dialog').first(), sure)
      : named(page.locator('#main'), button);
  }

  /** The first time by pointer, on what can be seen and hit. What comes of it later is the same for less. */
  async act(): Promise<void> {
    const { sure, typed } = this.#action;
    const click = this.#isFirst
      ? (button: Locator) => button.click()
      : (button: Locator) => button.dispatchEvent('click');
    this.#isFirst = false;
    await click(this.button());
    if (this.#isForm || sure === undefined) return;
    const dialog = page.getByRole('dialog');
    if (typed !== undefined) await dialog.getByRole('textbox').fill(typed);
    await click(named(dialog, sure));
  }

  form(): Locator {
    return this.button().locator('xpath=ancestor::form');
  }

  /** Where the page says what went wrong. */
  place(): Locator {
    return this.#isForm ? this.form().getByRole('alert') : page.locator('.toasts').first();
  }

  async firstField(): Promise<string> {
    const [label] = Object.keys(this.#action.fields ?? {});
    return label === undefined ? '' : ((await this.#field(label).getAttribute('name')) ?? '');
  }

  async expectTyped(): Promise<void> {
    for (const [label, text] of Object.entries({ ...this.#action.fields, ...this.#action.choices })) {
      expect(await this.#field(label).inputValue(), label).toBe(text);
    }
  }

  async dismiss(): Promise<void> {
    if (this.#isForm) return;
    const dismiss = page.getByRole('button', { name: 'Dismiss' });
    while ((await dismiss.count()) > 0) await dismiss.first().dispatchEvent('click');
  }

  /** No error is left of it. */
  async expectDone(): Promise<void> {
    const { sure } = this.#action;
    if (this.#isForm && sure !== undefined) await page.getByRole('dialog').waitFor({ state: 'detached' });
    else await page.locator('#main [aria-busy="true"]').waitFor({ state: 'detached' });
    expect(await page.locator('.toast.bad').count()).toBe(0);
  }

  #field(label: string): Locator {
    const { sure } = this.#action;
    const around = sure === undefined ? page.locator('#main') : page.getByRole('dialog').first();
    return around.getByLabel(label, { exact: true }).first();
  }
}

/** As a link does: the page stays, and the screen is drawn anew, without what was on it. What a failed test has left goes with the page. */
async function open(at: string): Promise<void> {
  const path = `/dashboard${at.replace(':webhook', populated.ids.webhook)}`;
  if ((await page.getByRole('dialog').count()) > 0) await page.goto(`${populated.world.apiUrl}/dashboard`);
  await page.locator('#main h1').waitFor();
  await show('/dashboard/no/such/screen');
  await page.getByText('There is nothing at this address').waitFor();
  await show(path);
  await page.getByText('There is nothing at this address').waitFor({ state: 'detached' });
  await page.locator('#main h1').waitFor();
}

function show(path: string): Promise<void> {
  return page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'));`,
  );
}

function named(around: Locator, name: string | RegExp): Locator {
  return around.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name }).first();
}

function exactly(name: string | RegExp): RegExp {
  return typeof name === 'string' ? new RegExp(`^${escaped(name)}$`) : name;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

async function buttonNames(): Promise<string[]> {
  const tree = await page.locator('#main').ariaSnapshot();
  return [...tree.matchAll(/- button ("(?:[^"\\]|\\.)*")/g)].map(([, name = '""']) => JSON.parse(name) as string);
}
