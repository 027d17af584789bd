/**
 * One attempt to get a certificate, from the look at its names to the record of what came of it. Every step is recorded before it is
 * taken, so an attempt that a crash cut off goes on with the same key and the same order.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { withDeadline, withGrace } from '../../lib/deadline.ts';
import { bestEffort, type Logger } from '../../lib/logger.ts';
import { factsOf } from '../../lib/x509/inspect.ts';
import { newKey } from '../../lib/x509/names.ts';
import type { Store } from '../store.ts';
import { type CertificateAuthority, type Challenge, type ChallengeKind, IssueFailure } from './authority.ts';
import { type CertificateRecord, coversAny } from './certificate.ts';
import { type Cause, isOfTheAuthority } from './cause.ts';
import type { DnsRecords } from './dns-records.ts';
import type { NameLooks } from './name-looks.ts';
import type { NewOrders } from './new-orders.ts';
import type { Presenter } from './presenter.ts';
import { announce } from '../webhooks/occurrence.ts';
import { type Chance, LONGEST_PAUSE_MS, pauseAfter, renewalByLife } from './schedule.ts';

interface IssuanceDeps {
  readonly store: Store;
  /** In the order in which they are asked; at least one. */
  readonly authorities: readonly CertificateAuthority[];
  readonly presenter: Presenter;
  readonly looks: Pick<NameLooks, 'forIssuance'>;
  readonly newOrders: NewOrders;
  /** Null: no challenge by DNS is possible. */
  readonly dns: DnsRecords | null;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly chance: Chance;
}

const ISSUE_MS = 10 * 60_000;
/** For a record to be removed, once the server stops or the attempt has had its time. */
const REMOVE_MS = 15_000;
const NOTHING_ORDERED = { orderUrl: '', pendingKey: '' } as const;

export class Issuance {
  readonly #deps: IssuanceDeps;
  readonly #running = new Map<string, Promise<void>>();

  constructor(deps: IssuanceDeps) {
    this.#deps = deps;
  }

  /** One at a time for a record: who comes meanwhile waits for the one under way. Never rejects for what an authority says. */
  attempt(id: string, signal: AbortSignal): Promise<void> {
    const running = this.#running.get(id) ?? this.#attempt(id, signal).finally(() => this.#running.delete(id));
    this.#running.set(id, running);
    return running;
  }

  /** Resolves when those that are under way now are over. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  async #attempt(id: string, signal: AbortSignal): Promise<void> {
    const record = await this.#deps.store.certificate(id);
    if (record === null || record.source === 'upload') return;
    const failure = await withDeadline(ISSUE_MS, signal, (limited) => this.#ask(record, limited));
    if (failure !== null && !signal.aborted) await this.#failed(id, failure);
  }

  /** One authority after the other, the one that has the order first; null: it is there. */
  async #ask(record: CertificateRecord, signal: AbortSignal): Promise<IssueFailure | null> {
    const { authorities, logger } = this.#deps;
    let failure: IssueFailure | null = null;
    const begun = authorities.find(({ name }) => name === record.authority && record.orderUrl !== '');
    for (const authority of [...(begun === undefined ? [] : [begun]), ...authorities.filter((one) => one !== begun)]) {
      try {
        await this.#issue(record.id, authority, signal);
        return null;
      } catch (error) {
        failure = this.#failureOf(error);
        logger.warn({ err: error, names: record.names, authority: authority.name }, 'a certificate was not issued');
        if (signal.aborted || !isOfTheAuthority(failure.code)) break;
      }
    }
    return failure;
  }

  async #issue(id: string, authority: CertificateAuthority, signal: AbortSignal): Promise<void> {
    const { store, looks, newOrders, presenter, logger, now, chance } = this.#deps;
    const known = await store.certificate(id);
    if (known === null) return;
    const goesOn = known.authority === authority.name && known.orderUrl !== '' && known.pendingKey !== '';
    const challenges = goesOn
      ? this.challengesFor(known.names)
      : await looks.forIssuance(known.names, authority, this.challengesFor(known.names), signal);
    const isNew = !goesOn && known.chain === '' && authority.looksAtNames;
    const cameToNothing = isNew ? await newOrders.count(known) : null;
    let isOrdered = false;
    const key = goesOn ? known.pendingKey : newKey();
    const orderUrl = goesOn ? known.orderUrl : '';
    await this.#update(id, { state: 'ordering', authority: authority.name, pendingKey: key, orderUrl });
    const chain = await authority
      .issue({
        names: known.names,
        key,
        order: orderUrl === '' ? null : orderUrl,
        onOrder: (url) => {
          isOrdered = true;
          return this.#update(id, { orderUrl: url });
        },
        challenges,
        present: (challenge) => this.#present(challenge, signal),
        replaces: known.chain === '' ? null : known.chain,
        signal,
      })
      .catch(async (error: unknown) => {
        await bestEffort(logger, 'counting an order that came to nothing', async () => cameToNothing?.(isOrdered));
        throw error;
      });
    const facts = checked(chain, key, known.names, now());
    const life = { notBefore: facts.notBefore.toISOString(), notAfter: facts.notAfter.toISOString() };
    await this.#update(id, {
      ...{ state: 'issued', cause: null, problem: '', failures: 0 },
      ...{ chain, key, issuer: facts.issuer, ...life },
      nextAttemptAt: renewalByLife(life, chance).toISOString(),
      askAgainAt: authority.looksAtNames ? now().toISOString() : null,
      ...NOTHING_ORDERED,
    });
    // It is there from now on. Edges that do not take it now do so within a minute (upkeep.ts); another order would not help them.
    await bestEffort(logger, 'presenting a new certificate', () => presenter.publish());
  }

  /** Those that are possible here, for these names. */
  challengesFor(names: readonly string[]): ChallengeKind[] {
    const isWildcard = names.some((name) => name.startsWith('*.'));
    const byDns: ChallengeKind[] = this.#deps.dns === null ? ['dns-persist-01'] : ['dns-01', 'dns-persist-01'];
    return isWildcard ? byDns : ['http-01', 'tls-alpn-01'];
  }

  async #present(challenge: Challenge, signal: AbortSignal): Promise<() => Promise<void>> {
    const { presenter, dns, logger } = this.#deps;
    if (challenge.kind === 'http-01' || challenge.kind === 'tls-alpn-01') return presenter.present(challenge);
    if (challenge.kind === 'dns-persist-01' || dns === null) return async () => {};
    const { record, value } = challenge;
    const remove = (): Promise<void> =>
      bestEffort(logger, `removing the DNS record ${record} of a challenge`, () =>
        withGrace(REMOVE_MS, signal, (limited) => dns.remove(record, value, limited)),
      );
    try {
      await dns.set(record, value, signal);
    } catch (error) {
      // It may be there all the same, and each attempt has another value.
      await remove();
      const why = error instanceof Error ? error.message : String(error);
      throw new IssueFailure('dns_command_failed', `acme.dns-command did not set ${record}: ${why}`, { cause: error });
    }
    return remove;
  }

  #failureOf(error: unknown): IssueFailure {
    if (error instanceof IssueFailure) return error;
    return new IssueFailure('internal', 'Something went wrong inside the platform.', { cause: error });
  }

  async #failed(id: string, failure: IssueFailure): Promise<void> {
    const { store, now, chance } = this.#deps;
    await store.transact(async (tx) => {
      const record = await tx.certificate(id);
      if (record === null) return;
      const failures = record.failures + 1;
      const from = now().getTime();
      const pause = Math.max(pauseAfter(failures, failure.code, chance), (failure.retryAt?.getTime() ?? 0) - from);
      const at = new Date(from + Math.min(pause, LONGEST_PAUSE_MS));
      await tx.putCertificate({
        ...record,
        state: 'failed',
        cause: failure.code satisfies Cause,
        problem: failure.message,
        failures,
        nextAttemptAt: at.toISOString(),
        ...(failure.goesOn ? {} : NOTHING_ORDERED),
      });
      if (failures > 1) return;
      const { app, names } = record;
      const message = `There is no new certificate for ${names.join(', ')}: ${failure.message}`;
      const facts = { names: names.join(' '), cause: failure.code, not_after: record.notAfter };
      await announce(tx, { kind: 'certificate.failing', app, message, facts }, now().toISOString());
    });
  }

  /** Throws when the record has gone meanwhile: nobody wants the certificate any more. */
  async #update(id: string, change: Partial<CertificateRecord>): Promise<void> {
    await this.#deps.store.transact(async (tx) => {
      const record = await tx.certificate(id);
      if (record === null) throw new IssueFailure('internal', 'Nobody wants this certificate any more.');
      await tx.putCertificate({ ...record, ...change });
    });
  }
}

/** What an authority sends is looked at before it takes the place of what works. */
function checked(chain: string, key: string, names: readonly string[], now: Date) {
  const facts = factsOf(chain);
  const wrong = !new X509Certificate(chain).checkPrivateKey(createPrivateKey(key))
    ? 'it is for another key'
    : !names.every((name) => coversAny(facts, name))
      ? 'it is for other names'
      : facts.notAfter <= now
        ? 'it has expired'
        : '';
  if (wrong === '') return facts;
  throw new IssueFailure('authority_refuses', `The certificate that the authority sent cannot be used: ${wrong}.`);
}
