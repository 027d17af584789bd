/**
 * Sees to it that every name has a certificate and keeps it: finds out which there have to be, asks for those that are due, and takes
 * out of the router what has expired. Looks at things as they are, so it goes on after a crash wherever it was.
 */
import { withDeadline } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/logger.ts';
import { randomHex } from '../../lib/ids.ts';
import type { Store, StoreWriter } from '../store.ts';
import { type CertificateAuthority, IssueFailure, type RenewalWindow } from './authority.ts';
import { type CertificateRecord, type CertificateSummary, isGood, newRecord } from './certificate.ts';
import type { Issuance } from './issuance.ts';
import type { Presenter } from './presenter.ts';
import { type Chance, isDue, renewalByLife, renewalByWindow } from './schedule.ts';
import { type WantedCertificate, wantedCertificates } from './wanted.ts';

interface UpkeepDeps {
  readonly store: Store;
  readonly issuance: Issuance;
  readonly presenter: Presenter;
  /** Empty: only uploaded certificates are looked after. */
  readonly authorities: readonly CertificateAuthority[];
  readonly domain: string;
  readonly ownNames: readonly string[];
  readonly wildcard: boolean;
  readonly logger: Logger;
  readonly now: () => Date;
  readonly chance: Chance;
}

const ROUND_MS = 60_000;
/** Asked for, or about, at the same time. */
const AT_ONCE = 4;
const ASK_AGAIN_MS = 6 * 60 * 60_000;
const WINDOW_MS = 60_000;

export class CertificateUpkeep {
  readonly #deps: UpkeepDeps;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #isAwaited = false;

  constructor(deps: UpkeepDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.wake();
  }

  /** A round soon: names may have changed. Any number of calls make one. */
  wake(): void {
    if (this.#stop.signal.aborted || this.#isAwaited) return;
    this.#isAwaited = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#running = this.#running.then(async () => {
      this.#isAwaited = false;
      await this.round();
      if (this.#stop.signal.aborted || this.#isAwaited) return;
      this.#timer = setTimeout(() => this.wake(), ROUND_MS).unref();
    });
  }

  /** Resolves when all that is due has been tried once, or another round is to begin. Never rejects. */
  async round(): Promise<void> {
    const { store, presenter, logger } = this.#deps;
    try {
      await this.#reconcile();
      await presenter.publish();
      const now = this.#deps.now();
      const due = (await store.certificateSummaries()).filter((record) => isDue(record, now));
      await this.#each(inTurns(due), ({ id }) => this.attempt(id));
      await this.#askForWindows();
    } catch (error) {
      logger.error({ err: error }, 'a round of the certificates failed');
    }
  }

  /** See Issuance; one that is under way when the upkeep closes goes on with the next start. */
  attempt(id: string): Promise<void> {
    return this.#deps.issuance.attempt(id, this.#stop.signal);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
    await this.#deps.issuance.settled();
  }

  /** So many at once. Names that have come meanwhile have their turn in the next round, as what is left of this one. */
  async #each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
    const queue = [...all];
    const isOver = (): boolean => this.#stop.signal.aborted || this.#isAwaited;
    const inTurn = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined && !isOver(); one = queue.shift()) await work(one);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, inTurn));
  }

  /** Makes records for names that have none, and lets go of those that nobody needs. */
  async #reconcile(): Promise<void> {
    const { store, authorities, domain, ownNames, wildcard, now } = this.#deps;
    if (authorities.length === 0) return;
    await store.transact(async (tx) => {
      const [apps, records] = await Promise.all([tx.apps(), tx.certificateSummaries()]);
      const uploads = records.filter((record) => record.source === 'upload' && isGood(record, now()));
      const wanted = new Map(
        wantedCertificates({ apps, domain, ownNames, wildcard, uploads }).map((one) => [keyOf(one.names), one]),
      );
      for (const record of records.filter(({ source }) => source === 'authority')) {
        await this.#reconcileOne(tx, record, wanted.get(keyOf(record.names)));
        wanted.delete(keyOf(record.names));
      }
      for (const { names, app } of wanted.values())
        await tx.putCertificate(newRecord(randomHex(24), names, app, now()));
    });
  }

  async #reconcileOne(
    tx: StoreWriter,
    record: CertificateSummary,
    wanted: WantedCertificate | undefined,
  ): Promise<void> {
    const { now, chance } = this.#deps;
    const at = now();
    const change = async (more: Partial<CertificateRecord>): Promise<void> => {
      const whole = await tx.certificate(record.id);
      if (whole !== null) await tx.putCertificate({ ...whole, ...more });
    };
    if (wanted === undefined) {
      // A name that comes back finds its certificate, and costs no new one.
      if (!isGood(record, at)) await tx.deleteCertificate(record.id);
      else if (record.state !== 'unused') await change({ state: 'unused', nextAttemptAt: null });
      return;
    }
    if (record.state === 'unused') {
      const renewal = renewalByLife(record, chance).toISOString();
      await change({ state: 'issued', app: wanted.app, nextAttemptAt: renewal });
    } else if (record.app !== wanted.app) await change({ app: wanted.app });
  }

  async #askForWindows(): Promise<void> {
    const now = this.#deps.now().toISOString();
    const due = (await this.#deps.store.certificateSummaries()).filter(
      ({ state, askAgainAt }) => state === 'issued' && askAgainAt !== null && askAgainAt <= now,
    );
    // What is away for one is so for the others: they are asked about in the next round.
    const away = new Set<string>();
    await this.#each(due, async (record) => {
      if (!away.has(record.authority)) await this.#askForWindow(record, away);
    });
  }

  async #askForWindow({ id }: CertificateSummary, away: Set<string>): Promise<void> {
    const { store, authorities, now, chance, logger } = this.#deps;
    const record = await store.certificate(id);
    if (record === null) return;
    const authority = authorities.find(({ name }) => name === record.authority);
    const ask = async (signal: AbortSignal): Promise<RenewalWindow | null> =>
      (await authority?.renewalWindow(record.chain, signal)) ?? null;
    const window = await withDeadline(WINDOW_MS, this.#stop.signal, ask).catch((error: unknown) => {
      if (this.#stop.signal.aborted) return null;
      logger.warn({ err: error, names: record.names }, 'the authority does not say when to renew');
      if (error instanceof IssueFailure && error.code === 'authority_away') away.add(record.authority);
      return null;
    });
    if (this.#stop.signal.aborted) return;
    await store.transact(async (tx) => {
      const current = await tx.certificate(record.id);
      if (current === null || current.state !== 'issued' || current.chain !== record.chain) return;
      const planned = current.nextAttemptAt === null ? null : new Date(current.nextAttemptAt);
      const askAgainAt = (window?.askAgainAt ?? new Date(now().getTime() + ASK_AGAIN_MS)).toISOString();
      const renewal = window ? renewalByWindow(planned, window, current, chance) : planned;
      await tx.putCertificate({ ...current, askAgainAt, nextAttemptAt: renewal?.toISOString() ?? null });
    });
  }
}

/** Apps in turns, and of each app first what has failed least: nobody waits for the many names of somebody else. */
function inTurns(due: readonly CertificateSummary[]): CertificateSummary[] {
  const byApp = [...Map.groupBy(due, ({ app }) => app).values()];
  const turns = byApp.flatMap((own) =>
    own.sort((a, b) => a.failures - b.failures).map((record, turn) => ({ record, turn })),
  );
  return turns.sort((a, b) => a.turn - b.turn || a.record.failures - b.record.failures).map(({ record }) => record);
}

function keyOf(names: readonly string[]): string {
  return [...names].sort().join(' ');
}
