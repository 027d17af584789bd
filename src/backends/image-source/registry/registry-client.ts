/**
 * Reads from one repository of one registry, over the distribution API. Every address is checked, those of redirects and of the
 * token server too. What proves who we are goes to the registry itself and to the token server it names, to nobody else.
 */
import type { IncomingMessage } from 'node:http';
import { type AddressGuard, ForbiddenAddress } from '../../../lib/guarded/address-guard.ts';
import { addressKindOf } from '../../../lib/guarded/address-class.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { parseChallenge } from './challenge.ts';
import { notPulled } from './failures.ts';

export interface Login {
  readonly user: string;
  readonly password: string;
}

interface RegistryClientOptions {
  readonly guard: AddressGuard;
  /** As images are named by it. */
  readonly host: string;
  readonly repository: string;
  /** Null: nobody in particular. */
  readonly login: Login | null;
  /** The login may be sent without TLS. */
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
}

const CONNECT_MS = 10_000;
const HEAD_MS = 30_000;
const MAX_HOPS = 5;
const MAX_TOKEN_BYTES = 256 * 1024;
const NOT_TLS = /^(?:EPROTO|ECONNREFUSED|ECONNRESET|ERR_SSL_.*)$/;
/** Names by which images are known, and where the registry is. */
const SERVERS: ReadonlyMap<string, string> = new Map([
  ['docker.io', 'registry-1.docker.io'],
  ['index.docker.io', 'registry-1.docker.io'],
]);

export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #guard: AddressGuard;
  #base: URL | null = null;
  #authorization: string | null = null;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#guard = encryptedOrPrivate(options.guard);
  }

  /** Whoever gets the answer reads or destroys it. `path` is below the repository. Throws Failure `pull_failed`, RequestFailure. */
  async get(path: string, accept: string): Promise<IncomingMessage> {
    const { host, repository } = this.#options;
    this.#base ??= await this.#findBase();
    const url = new URL(`/v2/${repository}/${path}`, this.#base);
    let answer = await this.#follow(url, accept);
    if (answer.statusCode === 401) {
      const header = answer.headers['www-authenticate'] ?? '';
      answer.destroy();
      this.#authorization = await this.#authorize(header);
      answer = await this.#follow(url, accept);
    }
    const { statusCode = 0 } = answer;
    if (statusCode === 200) return answer;
    answer.destroy();
    throw refusal(statusCode, host, this.#options.login !== null);
  }

  /** TLS always, but where the registry is on a private address and does not speak it. */
  async #findBase(): Promise<URL> {
    const { host } = this.#options;
    const server = SERVERS.get(host) ?? host;
    const secure = new URL(`https://${server}/`);
    try {
      (await this.#open(new URL('/v2/', secure), {})).destroy();
      return secure;
    } catch (error) {
      const cause = error instanceof RequestFailure ? (error.cause as { code?: string } | undefined) : undefined;
      if (!NOT_TLS.test(cause?.code ?? '')) throw error;
      const plain = new URL(`http://${server}/`);
      const answer = await this.#open(new URL('/v2/', plain), {}).catch(() => null);
      if (answer === null) throw error;
      answer.destroy();
      return plain;
    }
  }

  async #follow(start: URL, accept: string): Promise<IncomingMessage> {
    let url = start;
    for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
      const isHome = url.origin === this.#base?.origin;
      const proof = isHome && this.#authorization !== null ? { authorization: this.#authorization } : {};
      const answer = await this.#open(url, { accept, ...proof });
      const { statusCode = 0, headers } = answer;
      if (![301, 302, 303, 307, 308].includes(statusCode)) {
        // A 401 of another host is not a question to us.
        if (statusCode !== 401 || isHome) return answer;
        answer.destroy();
        throw notPulled('the place that the registry sends to wants to know who asks.');
      }
      answer.destroy();
      const { location = '' } = headers;
      if (location === '' || !URL.canParse(location, url.href)) throw notPulled('the registry sends on to nowhere.');
      url = checked(new URL(location, url), 'the place that the registry sends to');
    }
    throw notPulled('the registry sends on and on.');
  }

  async #authorize(header: string): Promise<string> {
    const { host, login, repository } = this.#options;
    const basic = login === null ? null : `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
    const challenge = parseChallenge(header);
    if (challenge === null || (challenge.scheme === 'basic' && basic === null))
      throw refusal(401, host, login !== null);
    if (challenge.scheme === 'basic') {
      this.#demandEncrypted(this.#base);
      return basic ?? '';
    }
    if (!URL.canParse(challenge.realm)) throw notPulled('the registry names no address that gives tokens.');
    const url = checked(new URL(challenge.realm), 'the token server');
    url.searchParams.set('service', challenge.service);
    url.searchParams.set('scope', challenge.scope === '' ? `repository:${repository}:pull` : challenge.scope);
    if (basic !== null) this.#demandEncrypted(url);
    const headers = { accept: 'application/json', ...(basic !== null && { authorization: basic }) };
    const answer = await this.#open(url, headers);
    const { statusCode = 0 } = answer;
    if (statusCode !== 200) {
      answer.destroy();
      throw refusal(statusCode, host, login !== null);
    }
    return `Bearer ${tokenIn(await readAnswer(answer, MAX_TOKEN_BYTES, this.#options.signal))}`;
  }

  /** Before the login is sent there. */
  #demandEncrypted(url: URL | null): void {
    const { host, isInsecure } = this.#options;
    if (isInsecure || url?.protocol === 'https:') return;
    throw notPulled(
      `${url?.host ?? host} does not speak TLS, and a password is not sent without.`,
      `Give it a certificate, or have an operator name ${host} in the setting "images.insecure-registries".`,
    );
  }

  async #open(url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    const { signal } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), HEAD_MS);
    const request = {
      method: 'GET',
      url,
      headers: { 'user-agent': 'tancho', ...headers },
      body: null,
      connectMs: CONNECT_MS,
      signal: AbortSignal.any([signal, late.signal]),
    };
    try {
      return await openRequest(this.#guard, request);
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      throw new RequestFailure(error.code, `${url.host}: ${error.message}`, error.sent, error.cause);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Without encryption only to addresses that are not public; decided for the very addresses that are connected to. */
function encryptedOrPrivate(guard: AddressGuard): AddressGuard {
  return {
    async check(url) {
      const found = await guard.check(url);
      const isPublic = found.some(({ address }) => addressKindOf(address).class === 'public');
      if (url.protocol === 'https:' || !isPublic) return found;
      throw new ForbiddenAddress(`${url.host} is not called without encryption, for its address is public.`);
    },
  };
}

function checked(url: URL, what: string): URL {
  if (url.username === '' && url.password === '') return url;
  throw notPulled(`${what} has a password in its address.`);
}

function tokenIn(text: string): string {
  let found: unknown;
  try {
    const answer = JSON.parse(text) as { token?: unknown; access_token?: unknown } | null;
    found = answer?.token ?? answer?.access_token;
  } catch {
    found = undefined;
  }
  if (typeof found === 'string' && /^[\x21-\x7e]+$/.test(found)) return found;
  throw notPulled('the token server of the registry gives no token.');
}

function refusal(status: number, host: string, hasLogin: boolean): Error {
  if (status === 404)
    return notPulled('the registry does not have it.', 'Check its name and tag, and that it was pushed.');
  if (status === 401 || status === 403) {
    const hint = hasLogin
      ? `An operator can correct the user and password of ${host} in the setting "registries".`
      : `Check its name. If it is not public, an operator can give a user and password for ${host} in the setting "registries".`;
    return notPulled('the registry does not let us read it.', hint);
  }
  if (status === 429) return notPulled('the registry takes no more requests from here for now.', 'Try again later.');
  return notPulled(`the registry answered ${status}.`);
}
