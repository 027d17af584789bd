/** What a visitor of an app meets: a page that is an error, empty, or lacks what it names is no success, whatever listens. */
import { hostPort } from '../../lib/host-port.ts';
import { type App, hostLabel } from '../apps/app.ts';
import { appUrl, type Settings } from '../settings.ts';
import type { Store } from '../store.ts';
import { ROUTED_PROCESS, servingUnits } from '../units/unit.ts';
import { assetsOf } from './assets.ts';
import type { MachineProbe, ProbeAnswer } from '../diagnosis/probe.ts';
import { refusalOf } from './refused-hosts.ts';

export interface PageProblem {
  /** For people. */
  readonly text: string;
  /** What to do, for people. */
  readonly hint: string;
  /** The app does not take its own name for its name, so nothing of it can be reached. */
  readonly isHostRefused: boolean;
}

export interface PageDeps {
  readonly store: Pick<Store, 'units'>;
  readonly probe: Pick<MachineProbe, 'request'>;
  readonly settings: Pick<Settings, 'domain' | 'edgePort' | 'tlsPort' | 'presents'>;
}

/** For all that is asked together: a push waits for it. */
const LOOK_MS = 2_000;
const MOST_REDIRECTS = 3;
const SERVER_ERROR = 500;
const GONE = new Set([404, 410]);

type Answered = ProbeAnswer & { readonly kind: 'answered' };

/**
 * Asks a serving unit for `/`, as the router would, and for what a page of HTML names. Null: nothing is wrong, or that is not known; an API
 * that has no `/`, or asks who is there, is well. Never throws for what the app does.
 */
export async function lookAtPage(deps: PageDeps, app: App): Promise<PageProblem | null> {
  const { store, settings } = deps;
  const unit = servingUnits(app, await store.units(app.name)).find(
    ({ process, state, address }) => process === ROUTED_PROCESS && state === 'started' && address !== null,
  );
  if (unit?.address == null) return null;
  const look = new Look(deps, hostPort(unit.address), new URL(appUrl(hostLabel(app), settings)));
  return look.at(app.name);
}

class Look {
  readonly #probe: PageDeps['probe'];
  readonly #to: string;
  readonly #home: URL;
  readonly #until = performance.now() + LOOK_MS;

  constructor({ probe }: PageDeps, to: string, home: URL) {
    this.#probe = probe;
    this.#to = to;
    this.#home = home;
  }

  async at(app: string): Promise<PageProblem | null> {
    let url = this.#home;
    let answer = await this.#ask(url);
    for (let times = 0; times < MOST_REDIRECTS; times += 1) {
      const next = this.#redirected(url, answer);
      if (next === null) break;
      url = next;
      answer = await this.#ask(url);
    }
    const problem = this.#withoutHttps(answer) ?? this.#problemOf(url, answer, app);
    if (problem !== null || answer.kind !== 'answered') return problem;
    return this.#lackingIn(url, answer);
  }

  #ask(url: URL): Promise<ProbeAnswer> {
    return this.#probe.request({
      to: this.#to,
      host: url.host,
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      accept: 'text/html, */*',
      headers: { 'x-forwarded-proto': url.protocol.slice(0, -1) },
      timeoutMs: Math.max(1, this.#until - performance.now()),
    });
  }

  /** To another path of the app; null for all else. */
  #redirected(from: URL, answer: ProbeAnswer): URL | null {
    if (answer.kind !== 'answered' || answer.status < 300 || answer.status > 399) return null;
    if (answer.location === '' || !URL.canParse(answer.location, from.href)) return null;
    const to = new URL(answer.location, from);
    return to.origin === this.#home.origin && to.href !== from.href ? to : null;
  }

  /** Below localhost nobody else ends TLS in front of this machine. */
  #withoutHttps(answer: ProbeAnswer): PageProblem | null {
    if (answer.kind !== 'answered' || !URL.canParse(answer.location)) return null;
    const { hostname, protocol, href } = new URL(answer.location);
    const isItself = hostname === this.#home.hostname && hostname.endsWith('.localhost');
    if (!isItself || protocol !== 'https:' || this.#home.protocol === 'https:') return null;
    return {
      text: `The app sends its visitors to ${href}, and there is no HTTPS here.`,
      hint: 'Set or change what makes it demand HTTPS (DEBUG or SECURE_SSL_REDIRECT for Django, force_ssl of Rails, NODE_ENV), and push again; with a domain of its own the platform has HTTPS: docs/https.md',
      isHostRefused: false,
    };
  }

  #problemOf(url: URL, answer: ProbeAnswer, app: string): PageProblem | null {
    const asked = `To a request for ${url.pathname}`;
    const hint = `What it says about that: tancho app log ${app}`;
    if (answer.kind !== 'answered') {
      const why = answer.isLate ? `has given no answer within ${LOOK_MS / 1000} seconds` : answer.why;
      return { text: `${asked} the app ${why}.`, hint, isHostRefused: false };
    }
    const refusal = refusalOf(answer, this.#home.hostname);
    if (refusal !== null) {
      const text = `The app answers ${answer.status} to its own address: ${refusal.why}`;
      return { text, hint: refusal.hint, isHostRefused: true };
    }
    if (answer.status >= SERVER_ERROR) {
      return { text: `${asked} the app answers ${answer.status}.`, hint, isHostRefused: false };
    }
    if (answer.status === 200 && answer.type === 'text/html' && answer.text.trim() === '') {
      return { text: `${asked} the app answers with an empty page.`, hint, isHostRefused: false };
    }
    return null;
  }

  async #lackingIn(page: URL, { status, type, text }: Answered): Promise<PageProblem | null> {
    if (status !== 200 || type !== 'text/html') return null;
    const answers = await Promise.all(assetsOf(text, page).map(async (url) => ({ url, answer: await this.#ask(url) })));
    for (const { url, answer } of answers) {
      const why = whyLacking(answer);
      if (why === '') continue;
      const says = `Its page names ${url.pathname}, which the app ${why}: the page may stay blank, or without its looks.`;
      return { text: says, hint: `See it: curl -i ${url.href}`, isHostRefused: false };
    }
    return null;
  }
}

/** Completes "which the app ..."; '' where nothing is missing, or that is not known. */
function whyLacking(answer: ProbeAnswer): string {
  if (answer.kind !== 'answered') return '';
  const { status, type } = answer;
  if (GONE.has(status) || status >= SERVER_ERROR) return `answers with ${status}`;
  // What sites answer for every path they do not have.
  return status === 200 && type === 'text/html' ? 'answers with a page of HTML' : '';
}
