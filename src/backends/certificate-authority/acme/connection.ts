/** Requests to one ACME authority: the directory, nonces, signatures, and what its refusals mean. Knows no order. */
import type { IncomingMessage } from 'node:http';
import { IssueFailure } from '../../../domain/certificates/authority.ts';
import { withDeadline } from '../../../lib/deadline.ts';
import type { AddressGuard } from '../../../lib/guarded/address-guard.ts';
import { openRequest, readAnswer, RequestFailure } from '../../../lib/guarded/guarded-request.ts';
import { type Directory, directoryOf } from './directory.ts';
import { signedBody, type SigningKey } from './jws.ts';
import { failureOf, type AcmeProblem, problemOf } from './problem.ts';

export interface ConnectionOptions {
  /** URL of the directory. */
  readonly directory: string;
  readonly guard: AddressGuard;
  /** PEM of roots that its server is trusted by, instead of those that everybody trusts. */
  readonly roots: string | null;
  readonly userAgent: string;
  readonly now: () => Date;
}

export interface AcmeAnswer {
  readonly status: number;
  /** Parsed where it is JSON; else the text. */
  readonly body: unknown;
  /** '' when there is none. */
  readonly location: string;
  readonly retryAt: Date | null;
}

/** Says who signs: an account, or a key that has none yet. */
export type Signer = SigningKey & { readonly account: string | null };

const CONNECT_MS = 10_000;
const REQUEST_MS = 30_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const DIRECTORY_MS = 60 * 60_000;
const MAX_NONCES = 20;
/** A nonce may have been used up by nobody's fault (RFC 8555 section 6.5). */
const ATTEMPTS = 8;
const LONGEST_RETRY_MS = 7 * 86_400_000;

export class Connection {
  readonly authority: string;
  readonly #options: ConnectionOptions;
  #directory: { readonly value: Directory; readonly at: number } | null = null;
  readonly #nonces: string[] = [];

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.authority = new URL(options.directory).host;
  }

  async directory(signal: AbortSignal): Promise<Directory> {
    const now = this.#options.now().getTime();
    if (this.#directory !== null && Math.abs(now - this.#directory.at) < DIRECTORY_MS) return this.#directory.value;
    const { status, body, retryAt } = await this.#send('GET', this.#options.directory, null, signal);
    if (status !== 200)
      throw failureOf({ problem: problemOf(body), status, retryAt, authority: this.authority }, 'authority_away');
    const value = directoryOf(body, this.authority);
    this.#directory = { value, at: now };
    return value;
  }

  /** Not signed. Errors: IssueFailure. */
  async get(url: string, signal: AbortSignal): Promise<AcmeAnswer> {
    return this.#demandGood(await this.#send('GET', url, null, signal));
  }

  /** Signed; `payload` null: POST-as-GET. Errors: IssueFailure. */
  async post(signer: Signer, url: string, payload: unknown, signal: AbortSignal): Promise<AcmeAnswer> {
    for (let attempt = 1; ; attempt++) {
      const nonce = this.#nonces.pop() ?? (await this.#freshNonce(signal));
      const who = signer.account === null ? { jwk: signer.jwk } : { kid: signer.account };
      const answer = await this.#send('POST', url, signedBody(signer.key, { ...who, nonce, url }, payload), signal);
      if (answer.status < 400 || attempt === ATTEMPTS || this.#problem(answer).type !== 'badNonce') {
        return this.#demandGood(answer);
      }
    }
  }

  #problem(answer: AcmeAnswer): AcmeProblem {
    return problemOf(answer.body);
  }

  #demandGood(answer: AcmeAnswer): AcmeAnswer {
    if (answer.status < 300) return answer;
    const { status, retryAt } = answer;
    throw failureOf({ problem: this.#problem(answer), status, retryAt, authority: this.authority });
  }

  async #freshNonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await this.directory(signal);
    const { status, body, retryAt } = await this.#send('HEAD', newNonce, null, signal);
    const nonce = this.#nonces.pop();
    if (nonce !== undefined) return nonce;
    throw failureOf({ problem: problemOf(body), status, retryAt, authority: this.authority }, 'authority_away');
  }

  async #send(method: string, url: string, body: string | null, signal: AbortSignal): Promise<AcmeAnswer> {
    const { guard, userAgent, roots } = this.#options;
    const headers = {
      'user-agent': userAgent,
      accept: 'application/json, application/pem-certificate-chain, */*;q=0.5',
      ...(body !== null && { 'content-type': 'application/jose+json' }),
    };
    try {
      return await withDeadline(REQUEST_MS, signal, async (limited) => {
        const request = { method, url: new URL(url), headers, body, connectMs: CONNECT_MS, signal: limited };
        const answer = await openRequest(guard, roots === null ? request : { ...request, roots });
        return this.#read(answer, await readAnswer(answer, MAX_ANSWER_BYTES, limited));
      });
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      throw new IssueFailure('authority_away', `${this.authority} cannot be reached: ${error.message}.`, {
        goesOn: true,
        cause: error,
      });
    }
  }

  #read(answer: IncomingMessage, text: string): AcmeAnswer {
    const { 'replay-nonce': nonce, location, 'retry-after': retryAfter, 'content-type': type = '' } = answer.headers;
    if (typeof nonce === 'string' && /^[A-Za-z0-9_-]{1,512}$/.test(nonce) && this.#nonces.length < MAX_NONCES) {
      this.#nonces.push(nonce);
    }
    return {
      status: answer.statusCode ?? 0,
      body: /json/.test(type) ? parsed(text) : text,
      location: location ?? '',
      retryAt: this.#retryAt(retryAfter),
    };
  }

  /** Seconds or a date (RFC 9110 section 10.2.3); a week at the most. */
  #retryAt(text: string | undefined): Date | null {
    if (text === undefined) return null;
    const now = this.#options.now().getTime();
    const at = /^\d{1,9}$/.test(text.trim()) ? now + Number(text) * 1000 : Date.parse(text);
    return Number.isNaN(at) ? null : new Date(Math.min(Math.max(at, now), now + LONGEST_RETRY_MS));
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
