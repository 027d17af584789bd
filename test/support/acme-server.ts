/**
 * An ACME authority for tests: strict about what clients send (signatures, nonces, URLs, requests for certificates), really looking at
 * the challenges, and failing when a test asks for it. Its certificates are real ones of a root of its own.
 */
import { createHash, createHmac, createPublicKey, type KeyObject, verify, type webcrypto } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomHex } from '../../src/lib/ids.ts';
import { makeLeaf, makeRoot } from '../../src/lib/x509/certificate.ts';
import { renewalId } from '../../src/lib/x509/inspect.ts';
import { newKey } from '../../src/lib/x509/names.ts';
import { type PresentedChallenge, requestFacts } from './acme-checks.ts';

const DAY_MS = 86_400_000;
type Json = Record<string, unknown>;

export interface AcmeServerOptions {
  readonly now?: () => Date;
  readonly lifeDays?: number;
  /** Looks at a challenge; '' when it is right, else what is wrong. */
  readonly look: (challenge: PresentedChallenge) => Promise<string>;
  /** Offered for every name that is no wildcard; wildcards get the dns- ones. */
  readonly kinds?: readonly string[];
  readonly external?: { readonly kid: string; readonly secret: string };
  readonly profiles?: readonly string[];
}

interface Order extends Json {
  id: string;
  status: string;
  names: string[];
  authorizations: string[];
  error?: unknown;
  chain?: string;
}

interface Authorization {
  status: string;
  name: string;
  wildcard: boolean;
  token: string;
  challenges: Map<string, { status: string; error?: unknown }>;
  readonly thumbprint: string;
  readonly order: Order;
}

export class Refusal extends Error {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string | undefined;

  constructor(status: number, type: string, detail: string, retryAfter?: string) {
    super(detail);
    this.status = status;
    this.type = type;
    this.retryAfter = retryAfter;
  }
}

export class AcmeServer {
  readonly root: string;
  readonly #rootKey = newKey();
  readonly #options: AcmeServerOptions;
  readonly #nonces = new Set<string>();
  readonly #accounts = new Map<string, { key: KeyObject; thumbprint: string }>();
  readonly #orders = new Map<string, Order>();
  readonly #authorizations = new Map<string, Authorization>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  /** Names of every order, in order. */
  readonly orders: string[][] = [];
  /** What newOrder was given as `replaces`. */
  readonly replaced: string[] = [];
  readonly accountsMade = () => this.#accounts.size;
  #forgotten = 0;
  /** Thrown in place of an answer, when it says so. */
  fault: (path: string) => Refusal | null = () => null;
  /** Answers to the next so many signed requests: badNonce. */
  badNonces = 0;
  /** Null: two thirds into the life. */
  suggestedWindow: { start: Date; end: Date } | null = null;
  #base = '';

  constructor(options: AcmeServerOptions) {
    this.#options = options;
    const now = this.now().getTime();
    this.root = makeRoot('Test ACME root', this.#rootKey, {
      notBefore: new Date(now - DAY_MS),
      notAfter: new Date(now + 3650 * DAY_MS),
    });
  }

  now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  get directory(): string {
    return `${this.#base}/directory`;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.#base = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** As one that was restored from before they were made. */
  forgetAccounts(): void {
    this.#forgotten += this.#accounts.size;
    this.#accounts.clear();
  }

  /** As a crash of the client leaves it: nobody but the server knows the order. */
  statusOf(url: string): string {
    return this.#orders.get(url.split('/').at(-1) ?? '')?.status ?? '';
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    try {
      const fault = this.fault(path);
      if (fault !== null) throw fault;
      response.setHeader('replay-nonce', this.#freshNonce());
      await this.#route(request, response, path);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'serverInternal', String(error));
      const { status, type, message: detail, retryAfter } = refusal;
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail, status }));
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const json = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    };
    if (path === '/directory') return json(200, this.#directory());
    if (path === '/nonce') return void response.writeHead(200).end();
    if (path.startsWith('/renewal/')) return json(200, this.#renewal(path.slice(9)), { 'retry-after': '21600' });
    if (request.method !== 'POST') throw new Refusal(405, 'malformed', 'use POST');
    const { payload, account } = await this.#verified(request, path);
    const [, noun = '', id = '', kind = ''] = path.split('/');
    if (noun === 'account') return json(201, { status: 'valid' }, { location: account.url });
    if (noun === 'new-order') {
      const order = this.#newOrder(payload, account.thumbprint);
      return json(201, this.#shown(order), { location: `${this.#base}/order/${order.id}` });
    }
    if (noun === 'order') return json(200, this.#shown(this.#order(id)));
    if (noun === 'authz') return json(200, this.#shownAuthorization(id));
    if (noun === 'challenge') return json(200, await this.#challenge(id, kind, payload));
    if (noun === 'finalize') return json(200, this.#finalize(this.#order(id), payload));
    if (noun === 'certificate') {
      if (payload !== null) throw new Refusal(400, 'malformed', 'a certificate is got by POST-as-GET');
      return void response
        .writeHead(200, { 'content-type': 'application/pem-certificate-chain' })
        .end(this.#order(id).chain ?? '');
    }
    throw new Refusal(404, 'malformed', 'no such resource');
  }

  #directory(): Json {
    const { external, profiles } = this.#options;
    const url = (name: string): string => `${this.#base}/${name}`;
    return {
      newNonce: url('nonce'),
      newAccount: url('account'),
      newOrder: url('new-order'),
      renewalInfo: url('renewal'),
      meta: {
        caaIdentities: ['ca.test'],
        externalAccountRequired: external !== undefined,
        ...(profiles !== undefined && { profiles: Object.fromEntries(profiles.map((name) => [name, 'a profile'])) }),
      },
    };
  }

  /** Checks everything that RFC 8555 section 6 demands of a signed request. */
  async #verified(
    request: IncomingMessage,
    path: string,
  ): Promise<{ payload: Json | null; account: { url: string; thumbprint: string } }> {
    if (request.headers['content-type'] !== 'application/jose+json')
      throw new Refusal(415, 'malformed', 'content type');
    let text = '';
    for await (const part of request) text += String(part);
    const { protected: head = '', payload = '', signature = '' } = JSON.parse(text) as Record<string, string>;
    const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Json;
    if (header['url'] !== `${this.#base}${path}`) throw new Refusal(400, 'unauthorized', 'the url is another');
    if (header['alg'] !== 'ES256') throw new Refusal(400, 'badSignatureAlgorithm', 'use ES256');
    if (!this.#nonces.delete(String(header['nonce'])) || this.badNonces-- > 0)
      throw new Refusal(400, 'badNonce', 'bad nonce');
    this.badNonces = Math.max(0, this.badNonces);
    const isNew = path === '/account';
    if ('jwk' in header !== isNew || 'kid' in header === isNew) throw new Refusal(400, 'malformed', 'jwk or kid');
    const jwk = header['jwk'] as webcrypto.JsonWebKey & Record<string, string>;
    const known = isNew ? null : this.#accounts.get(String(header['kid']));
    const key = isNew ? createPublicKey({ key: jwk, format: 'jwk' }) : known?.key;
    if (key === undefined) throw new Refusal(400, 'accountDoesNotExist', 'no such account');
    const bytes = Buffer.from(signature, 'base64url');
    if (!verify('sha256', Buffer.from(`${head}.${payload}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)) {
      throw new Refusal(403, 'unauthorized', 'the signature is wrong');
    }
    const body = payload === '' ? null : (JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json);
    if (!isNew) return { payload: body, account: { url: String(header['kid']), thumbprint: known?.thumbprint ?? '' } };
    return { payload: body, account: this.#account(key, jwk, body ?? {}) };
  }

  #account(key: KeyObject, jwk: Record<string, string>, body: Json): { url: string; thumbprint: string } {
    if (body['termsOfServiceAgreed'] !== true) throw new Refusal(403, 'userActionRequired', 'agree to the terms');
    const canonical = JSON.stringify({ crv: jwk['crv'], kty: jwk['kty'], x: jwk['x'], y: jwk['y'] });
    const { external } = this.#options;
    if (external !== undefined) {
      const binding = (body['externalAccountBinding'] ?? {}) as Record<string, string>;
      const hmac = createHmac('sha256', Buffer.from(external.secret, 'base64url'));
      const wanted = hmac.update(`${binding['protected']}.${binding['payload']}`).digest('base64url');
      const inner = Buffer.from(binding['payload'] ?? '', 'base64url').toString();
      if (wanted !== binding['signature'] || inner !== canonical) throw new Refusal(403, 'unauthorized', 'not bound');
    }
    const thumbprint = createHash('sha256').update(canonical).digest('base64url');
    const found = [...this.#accounts].find(([, one]) => one.thumbprint === thumbprint)?.[0];
    const url = found ?? `${this.#base}/acct/${this.#forgotten + this.#accounts.size + 1}`;
    this.#accounts.set(url, { key, thumbprint });
    return { url, thumbprint };
  }

  #newOrder(payload: Json | null, thumbprint: string): Order {
    const identifiers = (payload?.['identifiers'] ?? []) as { type: string; value: string }[];
    const names = identifiers.map(({ value }) => value);
    if (names.length === 0) throw new Refusal(400, 'malformed', 'no names');
    const { profile } = payload ?? {};
    if (profile !== undefined && this.#options.profiles?.includes(String(profile)) !== true) {
      throw new Refusal(400, 'invalidProfile', 'no such profile');
    }
    if (typeof payload?.['replaces'] === 'string') this.replaced.push(payload['replaces']);
    const order: Order = { id: randomHex(16), status: 'pending', names, authorizations: [] };
    for (const name of names) {
      const wildcard = name.startsWith('*.');
      const plain = this.#options.kinds ?? ['http-01', 'tls-alpn-01', 'dns-01', 'dns-persist-01'];
      const kinds = plain.filter((kind) => !wildcard || kind.startsWith('dns-'));
      const id = randomHex(16);
      const challenges = new Map(kinds.map((kind) => [kind, { status: 'pending' }]));
      const bare = name.replace('*.', '');
      this.#authorizations.set(id, {
        status: 'pending',
        name: bare,
        wildcard,
        token: randomHex(32),
        challenges,
        thumbprint,
        order,
      });
      order.authorizations.push(id);
    }
    this.#orders.set(order.id, order);
    this.orders.push(names);
    return order;
  }

  #order(id: string): Order {
    const order = this.#orders.get(id);
    if (order === undefined) throw new Refusal(404, 'malformed', 'no such order');
    return order;
  }

  #shown({ id, status, authorizations, error }: Order): Json {
    return {
      status,
      authorizations: authorizations.map((one) => `${this.#base}/authz/${one}`),
      finalize: `${this.#base}/finalize/${id}`,
      ...(status === 'valid' && { certificate: `${this.#base}/certificate/${id}` }),
      ...(error !== undefined && { error }),
    };
  }

  #authorization(id: string): Authorization {
    const found = this.#authorizations.get(id);
    if (found === undefined) throw new Refusal(404, 'malformed', 'no such authorization');
    return found;
  }

  #shownAuthorization(id: string): Json {
    const { status, name, wildcard, token, challenges } = this.#authorization(id);
    return {
      status,
      identifier: { type: 'dns', value: name },
      ...(wildcard && { wildcard }),
      challenges: [...challenges].map(([type, one]) => ({
        type,
        token,
        url: `${this.#base}/challenge/${id}/${type}`,
        ...one,
      })),
    };
  }

  async #challenge(id: string, kind: string, payload: Json | null): Promise<Json> {
    const authorization = this.#authorization(id);
    const challenge = authorization.challenges.get(kind);
    if (challenge === undefined) throw new Refusal(404, 'malformed', 'no such challenge');
    if (payload === null || Object.keys(payload).length > 0) throw new Refusal(400, 'malformed', 'send {}');
    const { name, token, thumbprint, order } = authorization;
    const problem = await this.#options.look({ kind, name, token, keyAuthorization: `${token}.${thumbprint}` });
    challenge.status = problem === '' ? 'valid' : 'invalid';
    authorization.status = challenge.status;
    if (problem !== '') {
      challenge.error = { type: 'urn:ietf:params:acme:error:unauthorized', detail: problem };
      order.status = 'invalid';
    } else if (order.authorizations.every((one) => this.#authorization(one).status === 'valid')) order.status = 'ready';
    return { type: kind, token, ...challenge };
  }

  #finalize(order: Order, payload: Json | null): Json {
    if (order.status !== 'ready') throw new Refusal(403, 'orderNotReady', `the order is ${order.status}`);
    const facts = requestFacts(Buffer.from(String(payload?.['csr']), 'base64url'));
    if (!facts.isSigned) throw new Refusal(400, 'badCSR', 'the signature is wrong');
    if ([...facts.names].sort().join() !== [...order.names].sort().join())
      throw new Refusal(400, 'badCSR', 'other names');
    const now = this.now().getTime();
    const notAfter = new Date(now + (this.#options.lifeDays ?? 90) * DAY_MS);
    const signer = { certificate: this.root, key: this.#rootKey };
    order.chain =
      makeLeaf(signer, order.names, facts.publicKey, { notBefore: new Date(now - 3_600_000), notAfter }) + this.root;
    order.status = 'valid';
    return this.#shown(order);
  }

  #renewal(id: string): Json {
    const order = [...this.#orders.values()].find(({ chain }) => chain !== undefined && renewalId(chain) === id);
    if (order === undefined) throw new Refusal(404, 'malformed', 'no such certificate');
    const now = this.now().getTime();
    const life = (this.#options.lifeDays ?? 90) * DAY_MS;
    const { start, end } = this.suggestedWindow ?? {
      start: new Date(now + (life * 2) / 3),
      end: new Date(now + life * 0.7),
    };
    return { suggestedWindow: { start: start.toISOString(), end: end.toISOString() } };
  }

  #freshNonce(): string {
    const nonce = randomHex(32);
    this.#nonces.add(nonce);
    return nonce;
  }
}
