/**
 * Asks one repository of one registry, over the distribution API. Every address is checked, those of redirects and of the
 * token server too. What proves who we are goes to the registry itself and to the token server it names, to nobody else.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Failure } from '../../../domain/failure.ts';
import type { RegistryCredentials } from '../../../domain/registries/registry-login.ts';
import { type AddressGuard, ForbiddenAddress } from '../../../lib/guarded/address-guard.ts';
import { addressKindOf } from '../../../lib/guarded/address-class.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { parseChallenge } from './challenge.ts';
import { notPulled, notPushed } from './failures.ts';

interface RegistryClientOptions {
  readonly guard: AddressGuard;
  /** As images are named by it. */
  readonly host: string;
  readonly repository: string;
  /** Null: nobody in particular. */
  readonly login: RegistryCredentials | null;
  /** The login may be sent without TLS. */
  readonly isInsecure: boolean;
  /** Absent: `pull`. Says what is asked for of token servers, and how failures are called. */
  readonly purpose?: 'pull' | 'push';
  /** PEM of the roots by which registries are trusted; absent: those that everybody trusts. */
  readonly roots?: string;
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

interface RegistryRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the repository, or where the registry has sent us. */
  readonly to: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Made anew for each try; its length is in the headers. Absent: none. */
  readonly body?: () => AsyncIterable<Uint8Array> | string;
}

const ASK = { method: 'GET' } as const;
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

export class RegistryClient {
  /** As in its options. */
  readonly host: string;
  readonly repository: string;
  readonly #options: RegistryClientOptions;
  readonly #guard: AddressGuard;
  #base: URL | null = null;
  #authorization: string | null = null;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.host = options.host;
    this.repository = options.repository;
    this.#guard = encryptedOrPrivate(options.guard);
  }

  /** Whoever gets the answer reads or destroys it. `path` is below the repository. Throws Failure, RequestFailure. */
  async get(path: string, accept: string): Promise<IncomingMessage> {
    const answer = await this.send({ method: 'GET', to: path, headers: { accept } });
    if (answer.statusCode === 200) return answer;
    answer.destroy();
    throw this.refusal(answer.statusCode ?? 0);
  }

  /** Any answer but the question who asks, which is answered here. Whoever gets it reads or destroys it. Throws Failure, RequestFailure. */
  async send(request: RegistryRequest): Promise<IncomingMessage> {
    const url = await this.#address(request.to);
    const answer = await this.#follow(url, request);
    if (answer.statusCode !== 401) return answer;
    const header = answer.headers['www-authenticate'] ?? '';
    answer.destroy();
    this.#authorization = await this.#authorize(header);
    return this.#follow(url, request);
  }

  /** Where an answer sends on to. Throws Failure. */
  async placeOf({ headers: { location = '' } }: IncomingMessage): Promise<URL> {
    const home = await this.#home();
    if (location === '' || !URL.canParse(location, home.href)) throw this.#fault('the registry sends on to nowhere.');
    return this.#checked(new URL(location, home), 'the place that the registry sends to');
  }

  /** Of a list that goes on; null: it does not. */
  async nextPage({ headers: { link = '' } }: IncomingMessage): Promise<URL | null> {
    const [, target = ''] = /<([^>]+)>\s*;\s*rel="?next"?/.exec(String(link)) ?? [];
    const home = await this.#home();
    if (target === '' || !URL.canParse(target, home.href)) return null;
    const url = this.#checked(new URL(target, home), 'the next page of a list');
    return url.origin === home.origin ? url : null;
  }

  /** In words of the contract. */
  refusal(status: number): Failure {
    const { host, login, purpose = 'pull' } = this.#options;
    return purpose === 'push' ? pushRefusal(status, host) : refusal(status, host, login !== null);
  }

  async #home(): Promise<URL> {
    this.#base ??= await this.#findBase();
    return this.#base;
  }

  async #address(to: string | URL): Promise<URL> {
    if (to instanceof URL) return to;
    return new URL(`/v2/${this.#options.repository}/${to}`, await this.#home());
  }

  #fault(why: string, hint?: string): Failure {
    return this.#options.purpose === 'push' ? notPushed(why, hint) : notPulled(why, hint);
  }

  /** TLS always, but where the registry is on a private address and does not speak it. */
  async #findBase(): Promise<URL> {
    const { host } = this.#options;
    const server = SERVERS.get(host) ?? host;
    const secure = new URL(`https://${server}/`);
    try {
      (await this.#open(new URL('/v2/', secure), ASK)).destroy();
      return secure;
    } catch (error) {
      const cause = error instanceof RequestFailure ? (error.cause as { code?: string } | undefined) : undefined;
      if (!NOT_TLS.test(cause?.code ?? '')) throw error;
      const plain = new URL(`http://${server}/`);
      const answer = await this.#open(new URL('/v2/', plain), ASK).catch(() => null);
      if (answer === null) throw error;
      answer.destroy();
      return plain;
    }
  }

  /** Only what changes nothing is sent on to other places. */
  async #follow(start: URL, request: RegistryRequest): Promise<IncomingMessage> {
    let url = start;
    for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
      const isHome = url.origin === this.#base?.origin;
      const proof = isHome && this.#authorization !== null ? { authorization: this.#authorization } : {};
      const answer = await this.#open(url, { ...request, headers: { ...request.headers, ...proof } });
      const { statusCode = 0 } = answer;
      if (!REDIRECTS.has(statusCode) || !SAFE.has(request.method)) {
        // A 401 of another host is not a question to us.
        if (statusCode !== 401 || isHome) return answer;
        answer.destroy();
        throw this.#fault('the place that the registry sends to wants to know who asks.');
      }
      answer.destroy();
      const { location = '' } = answer.headers;
      if (location === '' || !URL.canParse(location, url.href)) throw this.#fault('the registry sends on to nowhere.');
      url = this.#checked(new URL(location, url), 'the place that the registry sends to');
    }
    throw this.#fault('the registry sends on and on.');
  }

  async #authorize(header: string): Promise<string> {
    const { login, repository, purpose } = this.#options;
    const rights = purpose === 'push' ? 'pull,push,delete' : 'pull';
    const basic = login === null ? null : `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;
    const challenge = parseChallenge(header);
    if (challenge === null || (challenge.scheme === 'basic' && basic === null)) throw this.refusal(401);
    if (challenge.scheme === 'basic') {
      this.#demandEncrypted(this.#base);
      return basic ?? '';
    }
    if (!URL.canParse(challenge.realm)) throw this.#fault('the registry names no address that gives tokens.');
    const url = this.#checked(new URL(challenge.realm), 'the token server');
    url.searchParams.set('service', challenge.service);
    url.searchParams.set('scope', challenge.scope === '' ? `repository:${repository}:${rights}` : challenge.scope);
    if (basic !== null) this.#demandEncrypted(url);
    const headers = { accept: 'application/json', ...(basic !== null && { authorization: basic }) };
    const answer = await this.#open(url, { method: 'GET', headers });
    const { statusCode = 0 } = answer;
    if (statusCode !== 200) {
      answer.destroy();
      throw this.refusal(statusCode);
    }
    const token = tokenIn(await readAnswer(answer, MAX_TOKEN_BYTES, this.#options.signal));
    if (token === null) throw this.#fault('the token server of the registry gives no token.');
    return `Bearer ${token}`;
  }

  /** Before the login is sent there. */
  #demandEncrypted(url: URL | null): void {
    const { host, isInsecure } = this.#options;
    if (isInsecure || url?.protocol === 'https:') return;
    throw this.#fault(
      `${url?.host ?? host} does not speak TLS, and a password is not sent without.`,
      `Give it a certificate, or have an operator name ${host} in the setting "images.insecure-registries".`,
    );
  }

  /** The time that it may take begins anew with everything that is sent. */
  async #open(url: URL, { method, headers, body }: Omit<RegistryRequest, 'to'>): Promise<IncomingMessage> {
    const { signal, roots } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), HEAD_MS);
    const counted = async function* (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        timer.refresh();
        yield chunk;
      }
    };
    const given = body?.() ?? null;
    const request = {
      method,
      url,
      headers: { 'user-agent': 'tancho', ...headers },
      body: given === null || typeof given === 'string' ? given : Readable.from(counted(given), { objectMode: false }),
      connectMs: CONNECT_MS,
      signal: AbortSignal.any([signal, late.signal]),
      ...(roots !== undefined && { roots }),
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

  #checked(url: URL, what: string): URL {
    if (url.username === '' && url.password === '') return url;
    throw this.#fault(`${what} has a password in its address.`);
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

/** Null where there is none. */
function tokenIn(text: string): string | null {
  let found: unknown;
  try {
    const answer = JSON.parse(text) as { token?: unknown; access_token?: unknown } | null;
    found = answer?.token ?? answer?.access_token;
  } catch {
    found = undefined;
  }
  return typeof found === 'string' && /^[\x21-\x7e]+$/.test(found) ? found : null;
}

function refusal(status: number, host: string, hasLogin: boolean): Failure {
  if (status === 404)
    return notPulled('the registry does not have it.', 'Check its name and tag, and that it was pushed.');
  if (status === 401 || status === 403) {
    const hint = hasLogin
      ? `Give another login: tancho registry login ${host} --user <user> --team <team>   (that of the server is in the setting "registries")`
      : `Check its name. If it is not public, give a login: tancho registry login ${host} --user <user> --team <team>   (or an operator one for all apps, in the setting "registries")`;
    return notPulled('the registry does not let us read it.', hint);
  }
  if (status === 429) return notPulled('the registry takes no more requests from here for now.', 'Try again later.');
  return notPulled(`the registry answered ${status}.`);
}

function pushRefusal(status: number, host: string): Failure {
  if (status === 401 || status === 403) {
    return notPushed(
      `${host} does not let us write there.`,
      `An operator can give a user and password that may, for ${host} in the setting "registries".`,
    );
  }
  if (status === 404)
    return notPushed(`${host} has no such place.`, 'An operator can correct the setting "images.registry".');
  return notPushed(`${host} answered ${status}.`);
}
