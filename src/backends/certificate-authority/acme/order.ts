/** One order, from the request to the certificate; it goes on from whatever state the authority has it in. */
import { setTimeout as delay } from 'node:timers/promises';
import { type IssueRequest, IssueFailure } from '../../../domain/certificates/authority.ts';
import { certificatesIn } from '../../../lib/x509/pem.ts';
import { renewalId } from '../../../lib/x509/inspect.ts';
import { certificateRequest } from '../../../lib/x509/request.ts';
import { chooseChallenge, toPresent } from './challenges.ts';
import type { AcmeAnswer, Connection, Signer } from './connection.ts';
import { failureOf, problemOf } from './problem.ts';
import { type Authorization, authorizationOf, type Order, orderOf } from './wire.ts';

interface OrderOptions {
  readonly connection: Connection;
  readonly signer: Signer;
  /** '' for the authority's own choice. */
  readonly profile: string;
  readonly now: () => Date;
  /** Between two looks at something that is not done yet, unless the authority says how long; two seconds when absent. */
  readonly pollMs?: number;
}

const POLL_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;
/** Of an authorization or an order; an authority that is slower than this is asked again later. */
const PATIENCE_MS = 3 * 60_000;

/** PEM. Errors: IssueFailure. */
export async function runOrder(options: OrderOptions, request: IssueRequest): Promise<string> {
  const { connection, signer } = options;
  const url = request.order ?? (await newOrder(options, request));
  let order = await orderAt(options, url, request.signal);
  if (order.status === 'pending') {
    await Promise.all(order.authorizations.map((one) => prove(options, request, one)));
    order = await settled(options, url, request.signal, (now) => now.status !== 'pending');
  }
  if (order.status === 'ready') {
    const csr = certificateRequest(request.names, request.key).toString('base64url');
    await connection.post(signer, order.finalize, { csr }, request.signal);
  }
  order = await settled(options, url, request.signal, ({ status }) => status === 'valid' || status === 'invalid');
  if (order.status !== 'valid' || order.certificate === '') throw refused(connection, order.error);
  const answer = await connection.post(signer, order.certificate, null, request.signal);
  const chain = certificatesIn(typeof answer.body === 'string' ? answer.body : '');
  if (chain.length > 0) return chain.join('');
  throw new IssueFailure('authority_away', `What ${connection.authority} sent is no certificate.`);
}

async function newOrder(options: OrderOptions, request: IssueRequest): Promise<string> {
  const { connection, signer, profile } = options;
  const { newOrder: url, renewalInfo, profiles } = await connection.directory(request.signal);
  if (profile !== '' && !profiles.includes(profile)) {
    const known = profiles.length === 0 ? 'none' : profiles.join(', ');
    throw new IssueFailure('authority_refuses', `${connection.authority} has no profile ${profile}; it has: ${known}.`);
  }
  const replaced = request.replaces === null || renewalInfo === null ? null : renewalId(request.replaces);
  const wanted = {
    identifiers: request.names.map((value) => ({ type: 'dns', value })),
    ...(profile !== '' && { profile }),
  };
  const ask = (more: object): Promise<AcmeAnswer> =>
    connection.post(signer, url, { ...wanted, ...more }, request.signal);
  const { location } = await ask(replaced === null ? {} : { replaces: replaced }).catch((error: unknown) => {
    // It was replaced already, or came from elsewhere: the authority then wants an order of its own.
    const isLimit = error instanceof IssueFailure && ['rate_limited', 'authority_away'].includes(error.code);
    if (replaced === null || isLimit) throw error;
    return ask({});
  });
  if (!URL.canParse(location)) {
    throw new IssueFailure('authority_away', `${connection.authority} took an order and does not say where it is.`);
  }
  await request.onOrder(location);
  return location;
}

async function orderAt({ connection, signer }: OrderOptions, url: string, signal: AbortSignal): Promise<Order> {
  return orderOf((await connection.post(signer, url, null, signal)).body);
}

/** Shows what one authorization asks for, and waits for the authority's judgement. */
async function prove(options: OrderOptions, request: IssueRequest, url: string): Promise<void> {
  const { connection, signer, now } = options;
  const look = async (): Promise<{ value: Authorization; retryAt: Date | null }> => {
    const { body, retryAt } = await connection.post(signer, url, null, request.signal);
    return { value: authorizationOf(body), retryAt };
  };
  const { value: authorization } = await look();
  if (authorization.status === 'valid') return;
  if (authorization.status !== 'pending') throw failedAuthorization(connection, authorization);
  const chosen = chooseChallenge(authorization, request.challenges);
  if (chosen === null) {
    const offered = authorization.challenges.map(({ type }) => type).join(', ');
    const code = authorization.wildcard ? 'wildcard_needs_dns' : 'authority_refuses';
    throw new IssueFailure(code, `${connection.authority} offers for ${authorization.name} only: ${offered}.`);
  }
  const { kind, offered } = chosen;
  const withdraw = await request.present(toPresent(kind, authorization.name, offered.token, signer.thumbprint, now()));
  try {
    if (offered.status === 'pending') await connection.post(signer, offered.url, {}, request.signal);
    const judged = await poll(
      options,
      look,
      ({ status }) => status !== 'pending' && status !== 'processing',
      request.signal,
    );
    if (judged.status !== 'valid') throw failedAuthorization(connection, judged);
  } finally {
    await withdraw();
  }
}

async function settled(
  options: OrderOptions,
  url: string,
  signal: AbortSignal,
  isDone: (order: Order) => boolean,
): Promise<Order> {
  const { connection, signer } = options;
  const look = async (): Promise<{ value: Order; retryAt: Date | null }> => {
    const { body, retryAt } = await connection.post(signer, url, null, signal);
    return { value: orderOf(body), retryAt };
  };
  return poll(options, look, isDone, signal);
}

async function poll<T>(
  { connection, now, pollMs = POLL_MS }: OrderOptions,
  look: () => Promise<{ readonly value: T; readonly retryAt: Date | null }>,
  isDone: (value: T) => boolean,
  signal: AbortSignal,
): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  // The first looks come quickly: most authorities are done at once.
  for (let pause = pollMs / 8; ; pause = Math.min(pause * 2, pollMs)) {
    const { value, retryAt } = await look();
    if (isDone(value)) return value;
    if (performance.now() > giveUpAt) {
      const words = `${connection.authority} has not come to an end within ${PATIENCE_MS / 60_000} minutes.`;
      throw new IssueFailure('authority_away', words, { goesOn: true });
    }
    const asked = retryAt === null ? 0 : retryAt.getTime() - now().getTime();
    await delay(Math.min(Math.max(pause, asked), LONGEST_PAUSE_MS), undefined, { signal }).catch((error: unknown) => {
      throw new IssueFailure('authority_away', 'The server was stopped meanwhile.', { goesOn: true, cause: error });
    });
  }
}

function failedAuthorization(connection: Connection, { challenges, name, status }: Authorization): IssueFailure {
  const failed = challenges.find(({ error }) => error !== undefined);
  if (failed !== undefined) return refused(connection, failed.error);
  return new IssueFailure(
    'validation_failed',
    `The authorization of ${connection.authority} for ${name} is ${status}.`,
  );
}

function refused({ authority }: Connection, error: unknown): IssueFailure {
  return failureOf({ problem: problemOf(error), status: 400, retryAt: null, authority });
}
